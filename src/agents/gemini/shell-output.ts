interface ShellOutput {
  readonly output: string
  /** Absent when Gemini CLI does not report it: unknown is not zero. */
  readonly exitCode?: number | undefined
}

/**
 * The text that Gemini CLI shows for a command. Usually that is only the output of the command, and the exit code only when it printed
 * nothing. In debug mode it is the text for the model: the output between a label and a few lines about the process.
 */
export function readShellOutput(text: string): ShellOutput {
  const silent = /^Command exited with code: (\d{1,3})$/.exec(text)
  if (silent !== null) return { output: '', exitCode: Number(silent[1]) }
  return text.startsWith('Output: ') ? readDebugOutput(text) : { output: text }
}

const trailer = /\n(Error|Exit Code|Signal|Background PIDs|Process Group PGID): ([^\n]*)$/

/** The lines after the output are read from the last one: output of a command cannot hide the real ones. */
function readDebugOutput(text: string): ShellOutput {
  const facts = new Map<string, string>()
  let rest = text
  for (let found = trailer.exec(rest); found !== null; found = trailer.exec(rest)) {
    const [line, name = '', value = ''] = found
    if (facts.has(name)) break
    facts.set(name, value)
    rest = rest.slice(0, rest.length - line.length)
  }
  // Only a process that ran has this line.
  if (!facts.has('Process Group PGID')) return { output: text }
  const printed = rest.slice('Output: '.length)
  const output = printed === '(empty)' ? '' : printed
  const reported = facts.get('Exit Code')
  if (reported !== undefined)
    return { output, ...(/^\d{1,3}$/.test(reported) ? { exitCode: Number(reported) } : {}) }
  const ended = !facts.has('Signal') && !facts.has('Error') && !facts.has('Background PIDs')
  return ended ? { output, exitCode: 0 } : { output }
}
