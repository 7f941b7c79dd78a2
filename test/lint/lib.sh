# shellcheck shell=bash
# The files of a tree, for lint rules: what is kept, not what is made.

lint_files() { # GLOB...: paths that match one of the patterns
	local pattern match=()
	for pattern in "$@"; do
		match+=(-o -path "$pattern")
	done
	find . \( -path ./.git -o -path ./.deps -o -path ./build \) -prune -o -type f \( "${match[@]:1}" \) -print |
		sed 's|^\./||' | sort
}

lint_shell_files() { # by their first line, so that no name is forgotten
	lint_files './*' | while read -r file; do
		read -r first <"$file" || true
		[[ ${first:-} =~ ^\#!.*(bash|/sh)$ || $file == *.sh ]] && echo "$file"
	done 2>/dev/null
	true
}
