import { type PossibleRun, programAt, type TamperAttempt, type Tampering } from './attempt.ts'

/** Another agent, started so that it has no hooks, would do what this one may not. */
export const unguardedAgent: Tampering = (attempt) => {
  for (const run of attempt.runs) {
    if (!run.names.some((name) => anyAgent.has(name)) && !run.words.some((word) => word?.includes('@')))
      continue
    for (const [agent, { names, turnsOff }] of Object.entries(agents)) {
      const at = programAt(run, (name) => names.includes(name))
      const found = Math.max(at, packageAt(run, names))
      if (found < 0) continue
      const rest = run.words.slice(found + 1)
      const off = turnsOff(rest, attempt) ?? environmentOff(attempt) ?? elsewhere(attempt)
      if (off !== null) return `it would start ${agent} without its hooks (${off})`
    }
  }
  return null
}

type Words = readonly (string | null)[]

interface NestedAgent {
  /** Of the program, or the end of its package's name. */
  readonly names: readonly string[]
  /** The word that leaves the hooks out. */
  turnsOff(words: Words, attempt: TamperAttempt): string | null
}

const agents: Readonly<Record<string, NestedAgent>> = {
  'Claude Code': {
    names: ['claude', 'claude-code'],
    turnsOff: (words, attempt) =>
      flag(words, ['--bare', '--safe-mode']) ??
      settingsOff(words, attempt) ??
      valueOff(
        words,
        ['--setting-sources'],
        (value) => !(value.includes('user') && value.includes('project')),
      ) ??
      phraseOff(words, ['plugin', 'plugins', 'hooks']) ??
      mention(words, /disableAllHooks/),
  },
  Codex: {
    names: ['codex'],
    turnsOff: (words) =>
      flag(words, ['--ignore-user-config', '--disable']) ??
      valueOff(words, ['-c', '--config'], (value) => /hooks|features|notify/.test(value)) ??
      phraseOff(words, ['features', 'hooks', 'plugin']),
  },
  'Gemini CLI': {
    names: ['gemini', 'gemini-cli'],
    turnsOff: (words) => phraseOff(words, ['hooks', 'extensions', 'extension']),
  },
  opencode: { names: ['opencode', 'opencode-ai'], turnsOff: (words) => flag(words, ['--pure']) },
  Copilot: {
    names: ['copilot'],
    turnsOff: (words) =>
      flag(words, ['--config-dir', '--no-hooks']) ?? phraseOff(words, ['plugin', 'plugins', 'hooks']),
  },
  Cursor: { names: ['cursor-agent'], turnsOff: (words) => flag(words, ['--no-hooks']) },
}

const anyAgent = new Set(Object.values(agents).flatMap(({ names }) => names))

/** `npx @vendor/name@version`: the name behind the vendor. */
function packageAt({ words }: PossibleRun, names: readonly string[]): number {
  return words.findIndex((word) => {
    const name = word?.includes('@') === true ? /^(?:@[\w-]+\/)?([\w-]+)(?:@.*)?$/.exec(word)?.[1] : undefined
    return name !== undefined && names.includes(name)
  })
}

function flag(words: Words, flags: readonly string[]): string | null {
  return (
    words.find(
      (word) => word !== null && flags.some((name) => word === name || word.startsWith(`${name}=`)),
    ) ?? null
  )
}

function valueOff(words: Words, flags: readonly string[], isOff: (value: string) => boolean): string | null {
  for (const [index, word] of words.entries()) {
    const name = flags.find((candidate) => word === candidate || word?.startsWith(`${candidate}=`))
    if (name === undefined) continue
    const value = word === name ? words[index + 1] : word?.slice(name.length + 1)
    if (value === null || value === undefined || isOff(value)) return name
  }
  return null
}

function settingsOff(words: Words, attempt: TamperAttempt): string | null {
  return valueOff(words, ['--settings'], (value) => {
    const texts = value.trim().startsWith('{')
      ? [value]
      : attempt.pathsOf(value).map((path) => attempt.world.readText(path, 1_000_000) ?? 'disableAllHooks')
    // A file that cannot be read yet may say anything by the time it is.
    return texts.some((text) => /disableAllHooks|allowManagedHooksOnly|HARNESS_|GANTRY_/.test(text))
  })
}

const takesAway = new Set(['disable', 'uninstall', 'remove', 'rm', 'delete', 'disable-all'])

function phraseOff(words: Words, subjects: readonly string[]): string | null {
  const at = words.findIndex((word) => word !== null && subjects.includes(word))
  const verb =
    at < 0 ? undefined : words.slice(at + 1, at + 3).find((word) => word !== null && takesAway.has(word))
  return verb === undefined ? null : `${words[at]} ${verb}`
}

function mention(words: Words, pattern: RegExp): string | null {
  return words.find((word) => word !== null && pattern.test(word)) ?? null
}

const otherHome =
  /\b(CLAUDE_CONFIG_DIR|CLAUDE_CODE_SIMPLE|CODEX_HOME|GEMINI_CLI_HOME|COPILOT_HOME|OPENCODE_\w+|XDG_(?:CONFIG|STATE)_HOME|HARNESS_\w+|GANTRY_\w+|CLAUDE_PROJECT_DIR|HOME|LD_PRELOAD|BASH_ENV)=/

function environmentOff({ text, call }: TamperAttempt): string | null {
  if (call.action.kind !== 'shell') return null
  return (
    otherHome.exec(text)?.[1] ?? (/\benv\s+(-\S+\s+)*-(i|-ignore-environment)\b/.test(text) ? 'env -i' : null)
  )
}

/** The project's hooks are found from the directory an agent starts in. */
function elsewhere({ pathsOf, root }: TamperAttempt): string | null {
  const outside = pathsOf('.').find((directory) => directory !== root && !directory.startsWith(`${root}/`))
  return outside === undefined ? null : `in ${outside}, where the project's hooks do not count`
}
