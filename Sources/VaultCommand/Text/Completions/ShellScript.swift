/// The scripts with which shells complete the tool's command lines.
///
/// A script runs this tool to obtain the completions. It contains no list of commands, so it never becomes outdated. It
/// passes the typed words through a pipe, because other users can see a process's arguments. The first line of the
/// tool's output is the kind of completion. If it is `words`, each further line is a word, optionally followed by a tab
/// and its meaning. The scripts also complete `svault`, the command's other name in the Debian package.
enum ShellScript: String, CaseIterable {
    case bash, zsh, fish

    var text: String {
        switch self {
        case .bash: Self.bashText
        case .zsh: Self.zshText
        case .fish: Self.fishText
        }
    }

    private static let bashText = #"""
        # Completes the words of vault in bash. Created by `vault completions bash`.
        _vault() {
            local answer
            mapfile -t answer < <(printf '%s\0' "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" |
                "${1/#\~/$HOME}" completions bash --words 2>/dev/null)
            COMPREPLY=()
            case ${answer[0]-} in
            files) compopt -o default ;;
            words) COMPREPLY=("${answer[@]:1}") ;;
            esac
            # A folder is not a complete name.
            [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != */ ]] || compopt -o nospace
        }
        complete -F _vault vault svault

        """#

    private static let zshText = #"""
        #compdef vault svault
        # Completes the words of vault in zsh. Created by `vault completions zsh`.
        _vault() {
            local current=$PREFIX line word
            [[ -n ${compstate[quote]-} ]] || current=${(Q)PREFIX}
            local -a answer names folders described
            answer=("${(@f)$(printf '%s\0' "${(@Q)words[1,CURRENT-1]}" "$current" |
                ${~words[1]} completions zsh --words 2>/dev/null)}")
            case ${answer[1]-} in
            files)
                compset -P '--*='
                _files
                ;;
            words)
                for line in "${(@)answer[2,-1]}"; do
                    word=${line%%$'\t'*}
                    if [[ $line == *$'\t'* ]]; then
                        described+=("${word//:/\\:}:${line#*$'\t'}")
                    elif [[ $word == */ ]]; then
                        folders+=("$word")
                    else
                        names+=("$word")
                    fi
                done
                (( ! $#described )) || _describe word described
                compadd -a names
                # A folder is not a complete name.
                compadd -S '' -a folders
                ;;
            esac
        }
        if [[ $funcstack[1] == _vault ]]; then _vault "$@"; else compdef _vault vault svault; fi

        """#

    private static let fishText = #"""
        # Completes the words of vault in fish. Created by `vault completions fish`.
        function __vault_complete
            set -l words (commandline -opc)
            set -l typed (commandline -ct)
            set -l current ''
            # This closes an open quote first.
            for quote in '' '"' "'"
                set -l text (string unescape -- "$typed$quote" 2>/dev/null)
                and set current "$text"
                and break
            end
            set -l tool (string replace -r '^~' "$HOME" -- $words[1])
            set -l answer (printf '%s\0' $words "$current" | $tool completions fish --words 2>/dev/null)
            switch "$answer[1]"
                case files
                    set -l option (string match -r '^--[^=]*=' -- "$current")
                    set -l path (string sub -s (math (string length -- "$option") + 1) -- "$current")
                    for file in (__fish_complete_path "$path")
                        echo "$option$file"
                    end
                case words
                    printf '%s\n' $answer[2..]
            end
        end
        complete -c vault -f -a '(__vault_complete)'
        complete -c svault -f -a '(__vault_complete)'

        """#
}
