#!/bin/bash
# The tests of the codecs and of the pure parts of the loop notice changes: a random sample here, all of them with
# make mutate.  mutate/run reports the survivors.
# limit: 900 s
set -eu
. test/scripts/lib.sh
lib_tmp
tree=$lib_folder/tree
toy=daemons/toy/toy.c

lib_case "ten changes are noticed, or listed" test/mutate/run --sample 10 -j 1

# ---- a small tree ----

mkdir -p "$tree/daemons/toy" "$tree/test/coverage" "$tree/test/mutate" "$tree/test/daemons/toy" \
	"$tree/build/test/daemons/toy" "$tree"/build/{config,channels,can,daemons,launch}
cp test/mutate/{run,mutants.py} "$tree/test/mutate"
cp test/coverage/{units,link} "$tree/test/coverage"
echo 'int toy_nothing;' | gcc -x c -c -o "$tree/build/nothing.o" -
for library in test/libtest sim_settings {config,channels,can,daemons,launch}/nothing; do
	ar rcs "$tree/build/$library.a" "$tree/build/nothing.o"
done

plant() { # TEXT: the source; survivors are those of standard input
	printf '%s\n/* Checked: covered. */\n' "$1" >"$tree/$toy"
	cat >"$tree/test/mutate/survivors"
}
toy_test() { # TEXT: of the test
	printf '%s\n' "$1" >"$tree/test/daemons/toy/test_toy.c"
	gcc -w -c -o "$tree/build/test/daemons/toy/test_toy.o" "$tree/test/daemons/toy/test_toy.c"
}
answers() { # STATUS PATTERN [ARGUMENT...]: what run says about the small tree
	local status=0 said
	said=$(cd "$tree" && BUILD=build test/mutate/run "${@:3}" 2>&1) || status=$?
	if [ "$status" -ne "$1" ] || ! grep -qzE -- "$2" <<<"$said"; then
		echo "$status: $said"
		return 1
	fi
}

# ---- which changes there are ----

toy_test 'int main(void) { return 0; }'

# SOURCE CHANGE...: what the source becomes, line by line, in any order
becomes() {
	plant "$1" </dev/null
	diff <([ $# -eq 1 ] || printf '%s\n' "${@:2}" | sort) \
		<(cd "$tree" && BUILD=build test/mutate/run --list $toy | sed -n 's/^\t+ //p' | sort)
}
# EXPRESSION CHANGE...: the same for what a function returns
expression() {
	local change=()
	for new in "${@:2}"; do
		change+=("int f(int a, char *b) { return $new; }")
	done
	becomes "int f(int a, char *b) { return $1; }" "${change[@]}"
}
statement() { # STATEMENT CHANGE...: and for a statement
	local change=()
	for new in "${@:2}"; do
		change+=("void f(int a) { $new }")
	done
	becomes "void f(int a) { $1 }" "${change[@]}"
}

lib_case "comparisons" expression 'a < b' 'a <= b' 'a >= b'
lib_case "equality" expression 'a == b' 'a != b'
lib_case "small constants" expression '0' '1'
lib_case "constants" expression '12u' '13u'
lib_case "masks: the lowest bit and the highest" expression '0x1Fu' '0x1Eu' '0xFu'
lib_case "reals" expression '0.5f' '(0.5f * 2)'
lib_case "letters" expression "'a'" "('a' + 1)"
lib_case "sums" expression 'a + b' 'a - b'
lib_case "signs" expression '-a' 'a'
lib_case "signs behind a cast" expression '(double)-a' '(double)a'
lib_case "products" expression '(a) * b' '(a) / b'
lib_case "a dereference is not a product" expression '*b'
lib_case "an address is not a mask" expression '&a'
lib_case "masking" expression 'a & b' 'a | b'
lib_case "complement" expression '~a' 'a'
lib_case "shifts" expression 'a << b' 'a >> b'
lib_case "logic" expression 'a && b' 'a || b'
lib_case "not" expression '!a' 'a'
lib_case "truth" expression 'true' 'false'
lib_case "errors" expression '-EINVAL' '0' '-EXFULL'
lib_case "a choice" expression 'a ? *b : a' '!(a) ? *b : a'
lib_case "the greater of two: equal ones are the same" expression 'a[1] > f(2) ? a[1] : f(2)' \
	'a[1] <= f(2) ? a[1] : f(2)' 'a[0] > f(2) ? a[1] : f(2)' 'a[1] > f(3) ? a[1] : f(2)' \
	'a[1] > f(2) ? a[0] : f(2)' 'a[1] > f(2) ? a[1] : f(3)'
lib_case "one of two that is not compared" expression 'a < b ? a : c' 'a <= b ? a : c' 'a >= b ? a : c'
lib_case "a descriptor" expression 'fd < 0' 'fd >= 0'
lib_case "strings stay" expression '"1 < 2 && x"'
lib_case "an assignment" statement 'a = f;' ';'
lib_case "an assignment of a sum" statement 'a += f;' 'a -= f;' ';'
lib_case "a count" statement 'a++;' 'a--;' ';'
lib_case "the least so far" statement 'if (a < b->c) b->c = a;' 'if (a >= b->c) b->c = a;' 'if (a < b->c) ;'
lib_case "a bound that is not assigned" statement 'if (a < b) b = c;' 'if (a <= b) b = c;' 'if (a >= b) b = c;' \
	'if (a < b) ;'
lib_case "a call" statement 'if (a) g(a);' 'if (!(a)) g(a);' 'if (a) ;'
lib_case "a loop" statement 'for (;a;) continue;' 'for (;!(a);) continue;' 'for (;a;) ;'
lib_case "a return" statement 'while (a) return;' 'while (!(a)) return;' 'while (a) ;'
lib_case "a declaration stays" statement 'struct x *p; uint8_t y = a; foo r;'
lib_case "the size of an array stays" statement 'uint8_t y[3], z[4][5]; double v[6] = { a };'
lib_case "an index changes" statement 'b[3] = a;' 'b[4] = a;' ';'
lib_case "cases" statement 'switch (a) { case B: default: break; }' \
	'switch (a) { default: break; }' 'switch (a) { case B: default: ; }'
lib_case "comments and directives stay" becomes $'#include <a1.h>\n#if 1 /* 1 */\n#endif // 1 < 2'
lib_case "what a macro stands for" becomes '#define F1(x1) (2 + (x1))' \
	'#define F1(x1) (3 + (x1))' '#define F1(x1) (2 - (x1))'
lib_case "a table is not a function" becomes 'struct t t[] = { ROWS(ROW){ 0 } };' 'struct t t[] = { ROWS(ROW){ 1 } };'
lib_case "several lines" becomes $'void f(void) {\n\tg(a,\n\t\tb);\n}' ';'

# ---- what is said about them ----

less='int toy_less(int x, int y)
{
	return x < y;
}'
main='int toy_less(int, int);
int main(void)
'
good="$main { return !toy_less(-1, 0) || toy_less(0, 0); }"
weak="$main { return !toy_less(-1, 0) || toy_less(1, 0); }"
list="@ $toy toy_less
- return x < y;
+ return x <= y;
= no test for 0"

plant "$less" </dev/null
toy_test "$good"
lib_case "all are killed" answers 0 ' 2 changes: +2 killed, +0 equivalent, +0 not compiled, +0 survived'
toy_test "$weak"
lib_case "one survives" answers 1 "SURVIVED $toy:3: in toy_less
	- return x < y;
	\\+ return x <= y;
.* 1 survived, 1 of them not listed"
plant "$less" <<<"$list"
lib_case "it is listed" answers 0 ' 1 survived, 0 of them not listed'
lib_case "none of it is in the sample" answers 0 '0 changes in' --sample 0
toy_test "$good"
lib_case "it is listed, and found" answers 1 'survivors: the tests find this change now: .*: in toy_less'
plant "${less/x < y/x > y}" <<<"$list"
toy_test "${good//(-1, 0)/(0, -1)}"
lib_case "it is listed, and gone" answers 1 'survivors: no such change any more'
plant "$less" <<<"${list/no test*/}"
toy_test "$good"
lib_case "it is listed without a reason" answers 1 'survivors:4: an entry has lines'
plant "$less" <<<"${list//toy/tow}"
lib_case "its file is gone" answers 1 'survivors: no such file any more: daemons/tow/tow.c'
plant "$less" </dev/null
toy_test "$main { return 1; }"
lib_case "a test that fails anyway" answers 1 'as it is it does not pass: test/daemons/toy/test_toy.c'
plant 'int toy_end(int n)
{
	while (n > 0)
		n--;
	return n;
}' </dev/null
toy_test 'int toy_end(int);
int main(void) { return toy_end(5); }'
lib_case "a change that does not end is killed" answers 0 ' 5 changes: +5 killed'
plant 'unsigned int toy_half(unsigned int x)
{
	return x / 2 + 0 * x;
}' </dev/null
toy_test 'unsigned int toy_half(unsigned int);
int main(void) { return toy_half(5) != 2; }'
lib_case "a change that compiles to the same code does not count" \
	answers 0 '[1-9] equivalent, +0 not compiled, +0 survived'
plant '#include <string.h>
void toy_copy(char *to, const char *from)
{
	char text[sizeof(double)];
	memcpy(text, from, 8);
	memcpy(to, text, 8);
}' </dev/null
toy_test '#include <string.h>
void toy_copy(char *, const char *);
int main(void) { char to[16] = "01234567"; toy_copy(to, "abcdefghijkl"); return memcmp(to, "abcdefgh", 8); }'
lib_case "a change that only a sanitizer sees is killed" answers 0 ' 4 changes: +4 killed'

lib_end
