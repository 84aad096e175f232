list= shell=/bin/bash text=$1
case "$CLAUDE_CODE_SESSION_ID" in
  '' | *[!A-Za-z0-9_-]*) ;;
  *) list=$guard_home/kernel/$CLAUDE_CODE_SESSION_ID ;;
esac
# A hook of the guard that is one line, beside settings that name this program: it writes the ledger. Commands of the agent never begin so.
case "$text" in "[ -e "*" ] || exit 0; exec "*)
  line=${text#*" ] || exit 0; exec "}
  program=${line% *}
  program=${program#"'"}
  program=${program%"'"}
  case "$program" in
    *"'"* | */../*) ;;
    "$guard_home/bin/"*/gantry-hook.cjs) exec "$program" "${line##* }" ;;
  esac ;;
esac
case "${SHELL##*/}" in bash | zsh) [ -x "$SHELL" ] && shell=$SHELL ;; esac
without() {
  echo "Gantry guard: protected files are not read-only for this command: $1. Changes are noticed afterwards." >&2
  # Only the guard's own files are kept from it: their texts are in this process, and what is gone afterwards is put back.
  count=0
  for file in "$0" "$guard_home"/bin/*/gantry-hook.cjs; do keep; done
  [ -z "$list" ] || [ ! -r "$list.own" ] || while IFS= read -r file; do keep; done < "$list.own"
  "$shell" -c "$text"
  code=$?
  while [ "$count" -gt 0 ]; do put_back; done
  exit "$code"
}
text_of() { [ -f "$file" ] && [ -r "$file" ] && /bin/cat < "$file" && echo .; }
keep() {
  kept=$(text_of) || return 0
  count=$((count + 1))
  eval "file$count=\$file kept$count=\$kept"
}
put_back() {
  eval "file=\$file$count kept=\$kept$count"
  count=$((count - 1))
  now=$(text_of)
  case "$file" in
    */gantry-hook.cjs | "$0") [ "$now" != "$kept" ] || [ ! -x "$file" ] || return 0 ;;
    # An agent writes more into its settings than hooks.
    *.json | *.toml)
      case "$kept" in *disableAllHooks*) return ;; *gantry-hook*) ;; *) return ;; esac
      case "$now" in *disableAllHooks*) ;; *gantry-hook*) return ;; esac ;;
    *) [ "$now" != "$kept" ] || return 0 ;;
  esac
  [ -d "${file%/*}" ] || /bin/rm -f "${file%/*}"
  [ -f "$file" ] || /bin/rm -rf "$file"
  /bin/mkdir -p "${file%/*}"
  printf %s "${kept%.}" > "$file" &&
    case "$file" in */gantry-hook.cjs | "$0") /bin/chmod 700 "$file" ;; esac &&
    echo "Gantry guard: this command changed $file, which belongs to the guard. It was put back." >&2
}
# The command as the agent wrote it, without what it puts around. Empty unless it is a single plain command.
alone=${text#*"&& eval '"}
alone=${alone%%"' < /dev/null && "*}
# `guard verify` of Gantry, however it is started: our program runs it, because it writes the ledger. Its output and exit code take its place
# in the command, and what is around it runs like any other.
verified() {
  front=${alone%%'guard verify'*} place=
  words=${front#'set -o pipefail; '}
  case "$words" in 'cd '*' && '*) place=${words%%' && '*} place=${place#cd } words=${words#*' && '} ;; esac
  place=$(printf %s "$place" | /usr/bin/tr -d "'\"")
  case "$place" in '~/'*) place=$HOME/${place#'~/'} ;; esac
  more=${alone#"$front"guard verify}
  flags=${more%%[\|\&\;\<\>]*}
  case "$more" in "$flags"[\<\>]*) flags=${flags%[0-9]} ;; esac
  started=$(printf %s "$words" | /usr/bin/tr -d "'\"")
  case "$place$started$flags" in *[!A-Za-z0-9\ _./:=,@%+-]*) return ;; esac
  program=
  for word in $started; do
    case "$word" in
      gantry | */gantry | gantry@* | */bin.[jt]s) program=$word ;;
      *=* | env | time | timeout | nice | npx | bunx | bun | x | npm | pnpm | yarn | exec | dlx | run | node | */node | -* | [0-9]*) ;;
      *) return ;;
    esac
  done
  [ "${started%"$program "}$program " = "$started" ] && [ -n "$program" ] || return
  output=$([ -z "$place" ] || cd -- "$place" && gantry guard verify $flags)
  code=$?
  text="${text%%"${words}guard verify$flags"*}{ cat <&7; (exit $code); } ${text#*"${words}guard verify$flags"}"
  exec 7<<EOF
$output
EOF
  alone=
}
case "$alone" in *' guard verify'*)
  verified
  [ -z "$alone" ] || echo 'Gantry guard: `gantry guard verify` can record what it finds only as a call of its own.' >&2 ;;
esac
case "$alone" in *[!A-Za-z0-9\ _./:=,@%+-]*) alone= ;; esac
needs() {
  for word in "$@"; do
    case "$alone" in "$word" | "$word "*) without "$word does not work with it" ;; esac
    case "$text" in
      *"; $word "* | *"&& $word "* | *"| $word "* | *"($word "* | *"eval '$word "*)
        command -v "$word" > /dev/null 2>&1 && echo "Gantry guard: $word may fail, because protected files are read-only for this command. In a call of its own it runs without that." >&2 ;;
    esac
  done
}
# Programs that mount or make namespaces themselves.
warn_of_mounts() {
  needs bwrap unshare nsenter firejail flatpak podman buildah systemd-nspawn mount umount
}
if [ -n "$list" ] && [ -r "$list.mounts" ]; then
  warn_of_mounts
  # Without these rights root cannot undo the mounts, reach another process through /proc, or open a file by its number. bwrap would leave
  # a process of root without any rights outside, through which the files could be reached.
  exec /usr/bin/unshare --mount --propagation slave /bin/sh -c '
    /usr/bin/mount -n -a -T "$1" || {
      echo "Gantry guard: the protected files cannot be mounted read-only, so nothing was run. Try again." >&2
      exit 126
    }
    exec /usr/bin/setpriv --bounding-set=-sys_admin,-sys_ptrace,-dac_read_search,-sys_module,-sys_rawio --inh-caps=-all "$2" -c "$3"
  ' sh "$list.mounts" "$shell" "$text"
elif [ -n "$list" ] && [ -r "$list.bwrap" ]; then
  # They gain rights when they start, which a user namespace does not allow.
  needs sudo su doas pkexec runuser newgrp sg passwd chsh crontab fusermount fusermount3 newuidmap ssh-agent
  warn_of_mounts
  exec /usr/bin/bwrap --args 9 -- "$shell" -c "$text" 9< "$list.bwrap"
elif [ -n "$list" ] && [ -r "$list.off" ]; then
  read -r why < "$list.off"
  without "$why"
fi
without 'the hook of the guard did not run in this session'
