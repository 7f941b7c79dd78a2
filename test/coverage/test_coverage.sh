#!/bin/bash
# Every line of the codecs and of the pure parts of the loop is run by their unit tests; coverage/run shows the others.
# limit: 900 s
set -eu
. test/scripts/lib.sh
lib_tmp
tree=$lib_folder/tree
toy=daemons/toy/toy.c

lib_case "every line is run" test/coverage/run

# ---- a small tree ----

mkdir -p "$tree/daemons/toy" "$tree/test/coverage" "$tree/test/daemons/toy" "$tree/build/test/daemons/toy" \
	"$tree"/build/{config,channels,can,daemons,launch}
cp test/coverage/{run,units,link} "$tree/test/coverage"
echo 'int toy_nothing;' | gcc -x c -c -o "$tree/build/nothing.o" -
for library in test/libtest sim_settings {config,channels,can,daemons,launch}/nothing; do
	ar rcs "$tree/build/$library.a" "$tree/build/nothing.o"
done
cat >"$tree/$toy" <<'TOY'
/* toy.c: a toy.  Checked: covered. */
int toy_sign(int x)
{
	if (x < 0)
		return -1;
	return x > 0;
}
TOY

toy_test() { # EXPRESSION
	echo "int toy_sign(int x);
int main(void)
{
	return !($1);
}" >"$tree/test/daemons/toy/test_toy.c"
	gcc -c -o "$tree/build/test/daemons/toy/test_toy.o" "$tree/test/daemons/toy/test_toy.c"
}

answers() { # STATUS TEXT [FILE...]: what run says about the small tree
	local status=0 said
	said=$(cd "$tree" && BUILD=build test/coverage/run "${@:3}" 2>&1) || status=$?
	[[ $status == "$1" && $said == *"$2"* ]] || { echo "$status: $said"; return 1; }
}

toy_test 'toy_sign(-5) == -1 && toy_sign(0) == 0'
lib_case "all lines are run" answers 0 "$toy $(printf '%*s' 14 '')    4 lines,    4 covered"
toy_test 'toy_sign(0) == 0'
lib_case "a line that is not run" answers 1 "3 covered
$toy:5: never run: return -1;"
toy_test 'toy_sign(-5) == -2 || toy_sign(1) == 2'
lib_case "a test that fails" answers 1 "test/daemons/toy/test_toy.c failed"
lib_case "a file that is not there" answers 1 "daemons/toy/tow.c is not there" daemons/toy/tow.c
echo '/* hat.c: without a test.  Checked: pure, covered. */ int hat;' >"$tree/daemons/toy/hat.c"
lib_case "a file without a test" answers 1 "daemons/toy/hat.c has no test: write test/daemons/toy/test_hat.c"
echo '/* hat.c: nothing is checked, and covered it is not. */ int hat;' >"$tree/daemons/toy/hat.c"
toy_test 'toy_sign(-5) == -1 && toy_sign(0) == 0'
lib_case "a file that does not say so" answers 0 "4 covered"
rm "$tree/$toy"
lib_case "nothing to look at" answers 1 'no source says "Checked: covered"'

lib_end
