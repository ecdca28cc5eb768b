"""The scripts that connect the completion of a shell to `fakempi completion --words`."""

from __future__ import annotations

BASH = """\
# fakempi completion bash: source this file, or save it as ~/.local/share/bash-completion/completions/fakempi
_fakempi() {
    local words current prefix candidate files=
    read -ra words <<< "${COMP_LINE:0:COMP_POINT}"
    [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=("")
    current=${words[${#words[@]} - 1]}
    prefix=${current%"${current##*[=:]}"}  # bash completes what follows the last = or :
    COMPREPLY=()
    while IFS=$'\\t' read -r candidate _; do
        case $candidate in
            :files) files=1 ;;
            *[=:,/]) COMPREPLY+=("${candidate#"$prefix"}"); compopt -o nospace 2> /dev/null ;;
            *) COMPREPLY+=("${candidate#"$prefix"}") ;;
        esac
    done < <("$1" completion --words "${words[@]:1}" 2> /dev/null)
    if [[ -n $files && ${#COMPREPLY[@]} == 0 ]]; then
        compopt -o filenames 2> /dev/null
        while read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "${current#"$prefix"}")
    fi
}
complete -F _fakempi fakempi
"""

ZSH = """\
#compdef fakempi
# fakempi completion zsh: source this file after compinit, or save it as _fakempi in a directory of $fpath
_fakempi() {
    local line files
    local -a ended ended_about open open_about
    for line in "${(@f)$("${words[1]}" completion --words "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)}"; do
        case ${line%%$'\\t'*} in
            (:files) files=1 ;;
            (*[=:,/]) open+=("${line%%$'\\t'*}"); open_about+=("${line/$'\\t'/  }") ;;
            (?*) ended+=("${line%%$'\\t'*}"); ended_about+=("${line/$'\\t'/  }") ;;
        esac
    done
    (( $#ended )) && compadd -l -d ended_about -a ended
    (( $#open )) && compadd -l -S '' -d open_about -a open
    [[ -n $files ]] && _files
}
if [[ $funcstack[1] == _fakempi ]]; then _fakempi "$@"; else compdef _fakempi fakempi; fi
"""

FISH = """\
# fakempi completion fish: source this file, or save it as ~/.config/fish/completions/fakempi.fish
function __fakempi_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program completion --words $words "$current" 2> /dev/null)
        switch $line
            case ':files*'
                __fish_complete_path "$current"
            case '*'
                echo $line
        end
    end
end
complete -c fakempi -f -a '(__fakempi_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
