import { quoteWord } from '../shell/quote-word.ts'

/** Commands of llm-tool-test, cc-plugin-eval and AgentCommandTool that are not commands here. All of them have `run`. */
const commands: Readonly<Record<string, readonly string[]>> = {
  run: ['test'],
  scenarios: ['scenario', 'list'],
  show: ['scenario', 'show'],
  clean: ['runs', 'clean'],
  status: ['task', 'list'],
  queue: ['task', 'list'],
  cancel: ['task', 'cancel'],
  history: ['task', 'history'],
  ...Object.fromEntries(
    ['analyze', 'generate', 'execute', 'evaluate', 'resume', 'report', 'list'].map((name) => [
      name,
      ['plugin', name],
    ]),
  ),
}

/** Only cc-plugin-eval has these. */
const pluginFlags =
  /^(?:-[cpo]|--(?:plugin|config|marketplace|fast|failed-run|no-batch|rewind|est(?:imate)?|dr|output|with-plugins|semantic|samples|reps))(?:=|$)/

const testFlags: Readonly<Record<string, (value: string) => readonly string[]>> = {
  '--tool': (value) => ['--agent', value],
  '--tools': (value) => ['--agent', value],
  '--models': (value) => ['--model', value],
  '--tags': (value) => ['--tag', value],
  '--timeout-secs': (value) => ['--timeout', `${value}s`],
  '--max-usd': (value) => ['--max-cost-usd', value],
}

/** What a command line of one of these tools is called today; null when it is not one of theirs. */
export function oldSpelling(argv: readonly string[]) {
  const [name = '', ...rest] = argv
  if (name === 'plugin' && rest[0] === 'run') {
    const word = rest.find((each) => each.startsWith('--from-stage'))
    const [, stage = 'STAGE'] = word?.split('=') ?? []
    return word === undefined
      ? null
      : { word, today: `gantry plugin resume RUN --from-stage ${quoteWord(stage)}` }
  }
  const isTest = name === 'test'
  const known = isTest ? ['test'] : Object.hasOwn(commands, name) ? commands[name] : undefined
  if (known === undefined) return null
  // Only a task is a text of several words.
  if (name === 'run' && rest.some((word) => !word.startsWith('-') && /\s/.test(word)))
    return { word: name, today: `gantry task run ${rest.map(quoteWord).join(' ')}` }
  const isPlugin = known[0] === 'plugin' || (name === 'run' && rest.some((word) => pluginFlags.test(word)))
  const { words, old } = isPlugin ? { words: rest, old: null } : translated(rest)
  if (isTest && old === null) return null
  const today = [...(isPlugin ? ['plugin', name] : known), ...words].map(quoteWord).join(' ')
  return { word: isTest ? (old ?? '') : name, today: `gantry ${today}` }
}

function translated(words: readonly string[]): { readonly words: string[]; readonly old: string | null } {
  const result: string[] = []
  let old: string | null = null
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (word === '--') return { words: [...result, ...words.slice(index)], old }
    const [flag = '', inline] = word.split(/=(.*)/s, 2)
    const today = Object.hasOwn(testFlags, flag) ? testFlags[flag] : undefined
    if (flag === '--all') old ??= flag
    else if (today === undefined) result.push(word)
    else {
      old ??= flag
      result.push(...today(inline ?? words[++index] ?? '…'))
    }
  }
  return { words: result, old }
}
