"""`penstock completion SHELL`: the script that makes a shell ask `penstock __complete PROGRAM WORD...`."""

import argparse

from penstock.cli.completion.candidates import SH, SHORT_NAME_OF_TOOL

BASH = """\
# bash completion for penstock and Kafka's tools:  source <(penstock completion bash)
_penstock() {
    local line IFS=$'\\n'
    COMPREPLY=()
    for line in $(penstock __complete "${COMP_WORDS[0]##*/}" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
        COMPREPLY+=("${line%%$'\\t'*}")
    done
}
complete -o default -F _penstock penstock @TOOLS@
"""

ZSH = """\
#compdef penstock @TOOLS@
# zsh completion for penstock and Kafka's tools:  source <(penstock completion zsh)
_penstock() {
    local -a lines found
    local line text
    lines=("${(@f)$(penstock __complete "${words[1]:t}" "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    for line in $lines; do
        text="${${line%%$'\\t'*}//:/\\\\:}"
        [[ "$line" == *$'\\t'* ]] && text="$text:${line#*$'\\t'}"
        found+=("$text")
    done
    if (( ${#found} )); then
        _describe 'penstock' found
    else
        _files
    fi
}
compdef _penstock penstock @TOOLS@
"""

FISH = """\
# fish completion for penstock and Kafka's tools:  penstock completion fish | source
function __penstock
    set -l words (commandline -opc)
    set -l program (string split / -- $words[1])[-1]
    penstock __complete $program $words[2..] (commandline -ct) 2>/dev/null
end
for program in penstock @TOOLS@
    complete -c $program -a '(__penstock)'
end
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "penstock completion",
        description="Print the script that completes commands, flags, topics and groups in a shell. In bash: "
        "`source <(penstock completion bash)`, in zsh the same with zsh, in fish `penstock completion fish | source`.",
        allow_abbrev=False,
    )
    parser.add_argument("shell", choices=list(SCRIPTS))
    shell = parser.parse_args(arguments).shell
    names = [*SHORT_NAME_OF_TOOL, *(f"{name}{SH}" for name in SHORT_NAME_OF_TOOL)]
    print(SCRIPTS[shell].replace("@TOOLS@", " ".join(names)), end="")
    return 0
