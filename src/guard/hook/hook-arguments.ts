/** `--agent NAME [EVENT] [--agent-version V]`. */
export interface HookArguments {
  readonly agent: string
  readonly event: string | null
  readonly agentVersion: string | null
}

/** A sentence when they make no sense: a hook that guesses would guard something else. */
export function hookArguments(argv: readonly string[]): HookArguments | string {
  const values = new Map<string, string>()
  const events: string[] = []
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? ''
    const [name = '', inline] = word.split(/=(.*)/s, 2)
    if (!word.startsWith('-')) events.push(word)
    else if (name !== '--agent' && name !== '--agent-version') return `there is no option ${name}`
    else if (values.has(name)) return `${name} is given twice`
    else {
      const value = inline ?? argv[index + 1]
      if (inline === undefined) index += 1
      if (value === undefined || value === '') return `${name} needs a value`
      values.set(name, value)
    }
  }
  const agent = values.get('--agent')
  if (agent === undefined) return '--agent is missing'
  if (events.length > 1) return `one event at most, not ${events.join(' and ')}`
  return { agent, event: events[0] ?? null, agentVersion: values.get('--agent-version') ?? null }
}
