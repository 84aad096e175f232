import { quoteWord } from '../../shell/quote-word.ts'

/** The program through which an agent runs the commands of its shell, so that protected files are read-only for them. */
export const shellPrefixName = 'gantry-shell'

export interface ShellPrefix {
  /** The guard's home. The lists of the sessions are in its directory `kernel`. */
  readonly guardHome: string
  /** Starts Gantry: `gantry guard verify` writes the ledger, which no other command may. null when it is not known. */
  readonly gantry: readonly string[] | null
}

/**
 * A shell script, because it runs with every command: it starts in a millisecond. Everything in it is absolute, and the agent's command is
 * only an argument. It fails when the list of the session cannot be mounted, and says so when there is none.
 */
export function shellPrefixText({ guardHome, gantry }: ShellPrefix): string {
  const verify =
    gantry === null
      ? ''
      : `
case "$alone" in 'gantry guard verify' | 'gantry guard verify '*) exec ${gantry.map(quoteWord).join(' ')} \${alone#gantry } ;; esac`
  return `#!/bin/sh
# Written by Gantry: runs a command with the protected files and the guard's own files mounted read-only.
list= shell=/bin/bash text=$1
case "$CLAUDE_CODE_SESSION_ID" in
  '' | *[!A-Za-z0-9_-]*) ;;
  *) list=${quoteWord(`${guardHome}/kernel/`)}$CLAUDE_CODE_SESSION_ID ;;
esac
# A hook of the guard that is one line, beside settings that name this program: it writes the ledger. Commands of the agent never begin so.
case "$text" in "[ -e "*" ] || exit 0; exec "*)
  line=\${text#*" ] || exit 0; exec "}
  program=\${line% *}
  program=\${program#"'"}
  program=\${program%"'"}
  case "$program" in
    *"'"* | */../*) ;;
    ${quoteWord(`${guardHome}/bin/`)}*/gantry-hook.cjs) exec "$program" "\${line##* }" ;;
  esac ;;
esac
case "\${SHELL##*/}" in bash | zsh) [ -x "$SHELL" ] && shell=$SHELL ;; esac
without() {
  echo "Gantry guard: protected files are not read-only for this command: $1. Changes are noticed afterwards." >&2
  exec "$shell" -c "$text"
}
# The command as the agent wrote it, without what it puts around. Empty unless it is a single plain command.
alone=\${text#*"&& eval '"}
alone=\${alone%%"' < /dev/null && "*}
case "$alone" in *[!A-Za-z0-9\\ _./:=,@%+-]*) alone= ;; esac
needs() {
  for word in "$@"; do
    case "$alone" in "$word" | "$word "*) without "$word does not work with it" ;; esac
    case "$text" in
      *"; $word "* | *"&& $word "* | *"| $word "* | *"($word "* | *"eval '$word "*)
        command -v "$word" > /dev/null 2>&1 && echo "Gantry guard: $word may fail, because protected files are read-only for this command. In a call of its own it runs without that." >&2 ;;
    esac
  done
}${verify}
if [ -n "$list" ] && [ -r "$list.mounts" ]; then
  needs ${nested}
  exec /usr/bin/unshare --mount --propagation slave /bin/sh -c '${mountAll}' sh "$list.mounts" "$shell" "$text"
elif [ -n "$list" ] && [ -r "$list.bwrap" ]; then
  needs ${setuid} ${nested}
  exec /usr/bin/bwrap --args 9 -- "$shell" -c "$text" 9< "$list.bwrap"
elif [ -n "$list" ] && [ -r "$list.off" ]; then
  read -r why < "$list.off"
  without "$why"
fi
without 'the hook of the guard did not run in this session'
`
}

/** Programs that gain rights when they start, which a user namespace does not allow. */
const setuid =
  'sudo su doas pkexec runuser newgrp sg passwd chsh crontab fusermount fusermount3 newuidmap ssh-agent'

/** Programs that need to mount or to make namespaces themselves. */
const nested = 'bwrap unshare nsenter firejail flatpak podman buildah systemd-nspawn mount umount'

/**
 * Without these rights root cannot undo the mounts, reach another process through /proc, or open a file by its number. bwrap would leave a
 * process of root without any rights outside, through which the files could be reached.
 */
const taken = ['sys_admin', 'sys_ptrace', 'dac_read_search', 'sys_module', 'sys_rawio']
const mountAll = [
  '/usr/bin/mount -n -a -T "$1" || { echo "Gantry guard: the protected files cannot be mounted read-only, so nothing was run. Try again." >&2; exit 126; }',
  `exec /usr/bin/setpriv --bounding-set=${taken.map((name) => `-${name}`).join(',')} --inh-caps=-all "$2" -c "$3"`,
].join('; ')
