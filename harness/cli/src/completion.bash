# Completes the words of `rolecall` in bash. `rolecall completions bash` prints this file.

_rolecall_complete() {
    local IFS=$'\013'
    # Bash breaks words at colons and equals signs. They are put together again, and what stands
    # before the last break is taken from the candidates, because bash leaves it where it is.
    local words=() rest=$COMP_LINE at=-1 start=0 is_broken= i gap word
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        gap=${rest%%[! ]*}
        rest=${rest#"$gap"}
        if ((i > 0)) && [[ -z $gap ]]; then
            words[at]+=$word
            is_broken=yes
        else
            words[++at]=$word
            start=$((${#COMP_LINE} - ${#rest}))
            is_broken=
        fi
        rest=${rest#"$word"}
    done
    local typed=$2 cut=
    if [[ $is_broken ]]; then
        typed=${COMP_LINE:start:COMP_POINT-start}
        cut=${typed%"${typed##*[:=]}"}
    fi
    words[at]=$typed
    local space=true
    if compopt +o nospace 2> /dev/null; then
        space=false
    fi
    COMPREPLY=( $( \
        _CLAP_IFS="$IFS" \
        _CLAP_COMPLETE_INDEX="$at" \
        _CLAP_COMPLETE_COMP_TYPE="$COMP_TYPE" \
        _CLAP_COMPLETE_SPACE="$space" \
        ROLECALL_COMPLETE=bash \
        rolecall -- "${words[@]}" \
    ) )
    if [[ $? != 0 ]]; then
        unset COMPREPLY
        return
    fi
    COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    if [[ $space == false && ${COMPREPLY-} =~ [=/:]$ ]]; then
        compopt -o nospace
    fi
}
if ((BASH_VERSINFO[0] > 4 || BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] >= 4)); then
    complete -o nospace -o bashdefault -o nosort -F _rolecall_complete rolecall
else
    complete -o nospace -o bashdefault -F _rolecall_complete rolecall
fi
