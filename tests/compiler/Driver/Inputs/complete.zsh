# complete.zsh SCRIPT LINE: what zsh offers at the end of the line, as another zsh that is typed into prints it.
zmodload zsh/zpty
script=${1:A}
zpty shell zsh -f -i
{
  zpty -w shell "PROMPT=; autoload -Uz compinit; compinit -u -D; source $script"
  zpty -w shell "zstyle ':completion:*' list-grouped false; bindkey '^I' complete-word; setopt no_list_packed"
  # Each match is printed between marks, in place of a list on the screen.
  zpty -w shell 'compadd() { builtin compadd -O found "$@"; (( ${#found} )) && print -r -- "<<${(j:>><<:)found}>>"; builtin compadd "$@" }'
  zpty -w shell "echo ready"
  zpty -r -m shell output '*ready*ready*'
  zpty -w -n shell "$2"$'\t'
  zpty -r -m shell output '*<<*>>*'
} always { zpty -d shell }
print -r -- "$output" | grep -o '<<.*>>' | sed 's/>><</\n/g; s/<<//; s/>>//' | sort -u
