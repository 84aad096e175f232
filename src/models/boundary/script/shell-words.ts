/** Acts on files as shell commands, for agents that have a shell and no tool of their own. POSIX sh and base64 are enough. */

export function readByShell(path: string): string {
  return `cat -- ${quote(path)}`
}

export function writeByShell(path: string, content: string): string {
  const target = quote(path)
  return `mkdir -p -- "$(dirname -- ${target})" && printf %s ${quote(encode(content))} | base64 -d > ${target}`
}

/** Like the tools of agents it refuses to guess which of several places is meant. An `x` guards line ends at the end. */
export function editByShell(path: string, old: string, replacement: string): string {
  const target = quote(path)
  return `text=$(cat -- ${target} && printf x) || exit 1
text=\${text%x}
old=$(printf %s ${quote(encode(`${old}x`))} | base64 -d)
old=\${old%x}
new=$(printf %s ${quote(encode(`${replacement}x`))} | base64 -d)
new=\${new%x}
rest=\${text#*"$old"}
case $text in *"$old"*) ;; *) echo 'the text was not found' >&2; exit 1 ;; esac
case $rest in *"$old"*) echo 'the text occurs more than once' >&2; exit 1 ;; esac
printf %s "\${text%%"$old"*}$new$rest" > ${target}`
}

/** Exactly this word, whatever is in it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Survives a terminal, a heredoc and every layer of quotes. */
function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}
