# complete.bash SCRIPT WORD...: what bash offers for the last word.
source "$1"
COMP_WORDS=("${@:2}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_kiln
printf '%s\n' "${COMPREPLY[@]}"
