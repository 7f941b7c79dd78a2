#!/bin/bash
# The Python module, with Debian's python3, with numpy and without; and as make install leaves it.
set -eu
. test/scripts/lib.sh
lib_tmp

export ACH=$build/ach LD_LIBRARY_PATH=$build PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3

passes() { # CLASS [VARIABLE=VALUE]: the tests of that class
	env "${@:2}" "$python" -W error test/channels/python/python_module.py "$1" >"$lib_folder/out" 2>&1 ||
		{ cat "$lib_folder/out"; return 1; }
}
for class in Messages Channels Recordings; do
	if "$python" -c 'import numpy' 2>/dev/null; then
		lib_case "$class" passes "$class"
	else
		lib_ignore "$class" "no numpy: scripts/setup installs it"
	fi
	lib_case "$class without numpy" passes "$class" WITHOUT_NUMPY=1
done

installed() { # PREFIX: the module there finds its libraries
	local root=$lib_folder/root$1 folder
	make -s BUILD="${BUILD:-build}" CC="${CC:-gcc}" install DESTDIR="$root" PREFIX="$1" >/dev/null
	folder=$(cd "$root" && find . -name types.json)
	folder=${folder#.}
	folder=${folder%/endplate/types.json}
	[ "$1" != /usr/local ] || "$python" -c 'import sys; sys.exit(sys.argv[1] not in sys.path)' "$folder" ||
		{ echo "$python does not look in $folder"; return 1; }
	env -u LD_LIBRARY_PATH PYTHONPATH="$root$folder" strace -f -o "$lib_folder/trace" -e trace=execve \
		"$python" -c 'import endplate; print(endplate.__file__)
for line in open("/proc/self/maps", encoding="utf-8"):
    if "libach" in line or "libendplate" in line: print(line.split()[-1])' >"$lib_folder/out" || return 1
	grep -qx "$root$folder/endplate/__init__.py" "$lib_folder/out" || { cat "$lib_folder/out"; return 1; }
	[ "$(grep -cF "$root$1/lib/lib" "$lib_folder/out")" -eq "$(grep -c '\.so' "$lib_folder/out")" ] ||
		{ cat "$lib_folder/out"; return 1; }
	[ "$(grep -c execve "$lib_folder/trace")" -eq 1 ] || { cat "$lib_folder/trace"; return 1; }
	rm -rf "$root"
}
lib_case "installed, and an import starts no process" installed /usr/local
lib_case "installed with another prefix" installed /opt/robot

lib_end
