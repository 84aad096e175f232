import { dirname } from 'node:path'
import type { GuardedAgent } from '../../../core/hook-event.ts'
import { programPath } from '../../../shell/world.ts'
import { nameOf, type PossibleRun, programAt, type TamperAttempt, type Tampering } from './attempt.ts'

/**
 * Starting another agent without hooks, which could do what this one may not: with an option that disables them, in a place where they do
 * not apply, or one in which the guard is not installed.
 */
export const unguardedAgent: Tampering = (attempt) => {
  for (const run of attempt.runs) {
    for (const [agent, nested] of Object.entries(agents)) {
      const renamed = renamedBy(run, nested, attempt)
      if (renamed && !isGuarded(nested, attempt)) return `it would give ${agent} another name`
      if (run.onlyShows) continue
      const started = startedBy(run, nested, attempt)
      if (started === null) continue
      const inside = started.isInside && started.isSure ? 'in a container' : null
      const off =
        nested.turnsOff?.(started.rest, attempt) ?? environmentOff(attempt) ?? elsewhere(attempt) ?? inside
      if (off !== null) return `it would start ${agent} without its hooks (${off})`
      if (started.isSure && !onlyManages(started.rest, nested) && !isGuarded(nested, attempt))
        return `it would start ${agent}, in which the guard is not installed${nested.files === undefined ? '' : ` (a person can run \`gantry guard install --agent ${nested.install}\`)`}`
    }
  }
  return null
}

type Words = readonly (string | null)[]

interface NestedAgent {
  /** Names of the program, and the ends of its package names. */
  readonly names: readonly string[]
  /** Its name in Gantry; absent for an agent that has no hooks. */
  readonly install?: GuardedAgent
  /** Files that start the guard where it is installed: in the project, or below the home directory. */
  readonly files?: readonly string[]
  /** The word that disables the hooks. */
  turnsOff?(words: Words, attempt: TamperAttempt): string | null
  /** Words of which one starts the agent, where other uses of the name are common, and in a text that may be prose. */
  readonly starts?: RegExp
}

const agents: Readonly<Record<string, NestedAgent>> = {
  'Claude Code': {
    names: ['claude', 'claude-code'],
    install: 'claude-code',
    files: ['.claude/settings.local.json', '.claude/settings.json'],
    starts: /^(?:-p|--print|-c|--continue|-r|--resume|--dangerously-skip-permissions)$/,
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
    install: 'codex',
    files: ['.codex/hooks.json'],
    starts: /^(?:exec|e|resume|review|--full-auto|--yolo|--dangerously-bypass.*)$/,
    turnsOff: (words) =>
      flag(words, ['--ignore-user-config', '--disable']) ??
      valueOff(words, ['-c', '--config'], (value) => /hooks|features|notify/.test(value)) ??
      phraseOff(words, ['features', 'hooks', 'plugin']),
  },
  'Gemini CLI': {
    names: ['gemini', 'gemini-cli'],
    install: 'gemini',
    files: ['.gemini/settings.json'],
    starts: /^(?:-p|--prompt|-i|--prompt-interactive|-y|--yolo|--approval-mode.*)$/,
    turnsOff: (words) => phraseOff(words, ['hooks', 'extensions', 'extension']),
  },
  opencode: {
    names: ['opencode', 'opencode-ai'],
    install: 'opencode',
    files: ['.opencode/plugins/gantry-guard.js', '.config/opencode/plugins/gantry-guard.js'],
    starts: /^(?:run|-p|--prompt)$/,
    turnsOff: (words) => flag(words, ['--pure']),
  },
  Copilot: {
    names: ['copilot'],
    install: 'copilot',
    files: ['.github/hooks/gantry.json', '.copilot/hooks/gantry.json'],
    starts: /^(?:-p|--prompt|--allow-all.*)$/,
    turnsOff: (words) =>
      flag(words, ['--config-dir', '--no-hooks']) ?? phraseOff(words, ['plugin', 'plugins', 'hooks']),
  },
  Cursor: {
    names: ['cursor-agent'],
    install: 'cursor',
    files: ['.cursor/hooks.json'],
    starts: /^(?:-p|--print|-f|--force)$/,
    turnsOff: (words) => flag(words, ['--no-hooks']),
  },
  Aider: { names: ['aider', 'aider-chat'], starts: /^(?:--message|-m|--msg|--yes.*|--message-file|-f)$/ },
  Amp: { names: ['amp', 'ampcode'], starts: /^(?:-x|--execute|--dangerously-allow-all)$/ },
  // The same name is a tool for database migrations.
  Goose: { names: ['goose'], starts: /^(?:session|run|configure)$/ },
  'Qwen Code': { names: ['qwen', 'qwen-code'], starts: /^(?:-p|--prompt|-y|--yolo)$/ },
  Crush: { names: ['crush'], starts: /^(?:run|-y|--yolo)$/ },
  Droid: { names: ['droid'], starts: /^exec$/ },
  'Amazon Q': { names: ['q', 'kiro-cli'], starts: /^chat$/ },
  Auggie: { names: ['auggie'], starts: /^(?:-p|--print|--instruction)$/ },
  Cline: { names: ['cline'], starts: /^(?:task|-y|--yolo)$|\s/ },
  OpenHands: { names: ['openhands'], starts: /^(?:-t|--task|--headless)$/ },
  Plandex: { names: ['plandex', 'pdx'], starts: /^(?:tell|new|build|continue|--full|--auto.*)$/ },
  Codebuff: { names: ['codebuff'], starts: /^(?!-)/ },
  'SWE-agent': {
    names: ['sweagent', 'swe-agent', 'mini-swe-agent'],
    starts: /^(?:run|run-batch|-t|--task)$/,
  },
  Kimi: { names: ['kimi', 'kimi-cli'], starts: /^(?:-c|--command|-y|--yolo|--print)$/ },
  iFlow: { names: ['iflow'], starts: /^(?:-p|--prompt|-y|--yolo)$/ },
  Grok: { names: ['grok', 'grok-cli'], starts: /^(?:-p|--prompt)$/ },
  Continue: { names: ['cn'], starts: /^(?:-p|--print|--auto)$/ },
  Vibe: { names: ['vibe', 'mistral-vibe'], starts: /^(?:-p|--prompt|--auto-approve)$/ },
  gptme: { names: ['gptme'], starts: /^(?:-n|--non-interactive)$/ },
}

/** Names that also mean other programs: only with a word that starts the agent. */
const ambiguous = new Set(['goose', 'q', 'amp', 'crush', 'droid', 'cline', 'cn', 'grok', 'vibe'])

/** The words after the agent that a run starts; null when it starts none. In a text, one of its own words must follow. */
function startedBy(run: PossibleRun, { names, starts }: NestedAgent, attempt: TamperAttempt) {
  const isInside = !run.loose && containers.has(run.names[run.first] ?? '')
  const isName = (word: string | null | undefined): boolean => names.includes(packageName(word))
  const isStart = (word: string | null | undefined): boolean =>
    isName(word) || (isLinkTo(names, word, attempt) && !run.loose)
  const launched = run.loose || isInside ? -1 : launchedAt(run, isStart, attempt.text)
  const at =
    launched >= 0
      ? launched
      : run.loose
        ? run.words.findIndex(isName)
        : isInside
          ? insideAt(run, isName)
          : programAt(run, isName)
  if (at < 0) return null
  const rest = run.words.slice(at + 1)
  const isPlain = launched >= 0 && !ambiguous.has(packageName(run.words[at]))
  return {
    rest,
    isInside,
    isSure: isPlain || rest.slice(0, 3).some((word) => word !== null && starts?.test(word) === true),
  }
}

const containers = new Set(['docker', 'podman', 'nerdctl'])

/** Of the command that a container runs. */
function insideAt({ words, first }: PossibleRun, isName: (word: string | null) => boolean): number {
  const at = words.findIndex((word, index) => index > first && /^(?:run|exec)$/.test(word ?? ''))
  return at < 0 ? -1 : words.findIndex((word, index) => index > at && isName(word))
}

/** `./helper` that is a link to the program of the agent. */
function isLinkTo(
  names: readonly string[],
  word: string | null | undefined,
  attempt: TamperAttempt,
): boolean {
  if (word?.includes('/') !== true) return false
  return attempt.pathsOf(word).some((path) => {
    const { real, links } = attempt.world.resolve(path)
    return links > 0 && (names.includes(packageName(real)) || names.includes(packageOf(real)))
  })
}

/** `node_modules/@vendor/name/cli.js` as `name`. */
function packageOf(path: string): string {
  return /\/node_modules\/(?:@[^/]+\/)?([^/]+)\//.exec(`/${path}`)?.[1] ?? ''
}

/** A copy or a link of the program of the agent under a name that says nothing. */
function renamedBy(
  { words, names, first, loose }: PossibleRun,
  agent: NestedAgent,
  attempt: TamperAttempt,
): boolean {
  const { world, text, pathsOf } = attempt
  const isShown = names[first] === 'cat' && text.includes('>')
  if (loose || (!isShown && !/^(?:cp|ln|mv|install)$/.test(names[first] ?? ''))) return false
  const isOf = (word: string | null): boolean => word !== null && agent.names.includes(packageName(word))
  const programs = agent.names.filter((name) => programPath(name, world) !== name)
  if (!isShown && isOf(words.at(-1) ?? null)) return false
  // A link can be made before its program is there.
  const isPlace = (word: string): boolean =>
    /(?:^|\/)\.?bin\/[^/]+$/.test(word) || (world.env.PATH ?? '').split(':').includes(dirname(word))
  const targets = names[first] === 'ln' ? words.slice(first + 1, -1) : []
  if (targets.some((word) => word !== null && isOf(word) && isPlace(word))) return true
  if (programs.length === 0) return false
  const real = programs.map((name) => world.resolve(programPath(name, world)).real)
  const asked = new RegExp(`(?:command -v|which|type -[pP])\\s+(?:${programs.join('|')})\\b`)
  return words
    .slice(first + 1, isShown ? undefined : -1)
    .some((word) =>
      word === null
        ? asked.test(text)
        : pathsOf(word).some((path) => real.includes(world.resolve(path).real)),
    )
}

/** `npx @vendor/name@version`, `uvx name`, `python3 -m name`: index of the name. */
function launchedAt(
  { words, names, first }: PossibleRun,
  isName: (word: string | null | undefined) => boolean,
  text: string,
): number {
  const program = names[first] ?? ''
  if (isName(words[first])) return first
  if (/^python[\d.]*$/.test(program)) {
    const module = words.indexOf('-m', first)
    return module >= 0 && isName(words[module + 1]?.split('.', 1)[0]) ? module + 1 : -1
  }
  if (/^(?:node|bun|deno|tsx)$/.test(program)) {
    const script = words.findIndex((word, index) => index > first && !/^-|^run$/.test(word ?? ''))
    const place =
      words[script] ?? (installed.exec(text)?.[1] ?? '').replace(/^(?!\/node_modules\/)/, '/node_modules')
    if (isName(packageOf(place))) return script
  }
  const verbs = launchers.get(program)
  if (verbs === undefined) return -1
  const at = words.findIndex(
    (word, index) => index > first && word !== null && !word.startsWith('-') && !verbs.includes(word),
  )
  const isLaunch = verbs.length === 0 || words.slice(first + 1, at).some((word) => verbs.includes(word ?? ''))
  return isLaunch && isName(words[at]) ? at : -1
}

/** `$(npm root -g)/@vendor/name/cli.js`, with the directory that the shell finds. */
const installed = /\$\((?:npm|pnpm|yarn) [^()]*\)["']?((?:\/node_modules)?\/[\w@./-]+)/

/** Programs that fetch and start a package, with the subcommands that do. */
const launchers: ReadonlyMap<string, readonly string[]> = new Map([
  ['npx', []],
  ['bunx', []],
  ['pnpx', []],
  ['uvx', []],
  ['npm', ['exec', 'x']],
  ['pnpm', ['dlx', 'exec']],
  ['yarn', ['dlx', 'exec']],
  ['bun', ['x']],
  ['pipx', ['run']],
  ['uv', ['run', 'tool']],
  ['mise', ['exec', 'x']],
  ['volta', ['run']],
])

/** `@openai/codex@1.2` as `codex`. */
function packageName(word: string | null | undefined): string {
  return nameOf(word?.replace(/(?!^)@[^/]*$/, ''))
}

/** Shows its version, signs in, or lists something: no agent works. */
function onlyManages(words: Words, { install }: NestedAgent): boolean {
  const [first = null] = words
  if (words.some((word) => /^(?:--version|-V|--help|-h)$/.test(word ?? ''))) return true
  if (first === '-v' || (first === '--list-models' && install === undefined)) return true
  return first !== null && managing.has(first)
}

const managing = new Set(
  'help version login logout auth mcp config completion completions doctor update upgrade models plugin plugins extensions features hooks init-shell whoami usage'.split(
    ' ',
  ),
)

/** The agent of this session has the hooks that are running. For another one a file must start them. */
function isGuarded({ install, files }: NestedAgent, { agent, root, world }: TamperAttempt): boolean {
  if (install === undefined || files === undefined) return false
  if (install === agent) return true
  return [root, world.home].some((directory) =>
    files.some((file) =>
      /gantry-hook\.|hook-bin\.|gantry-guard/.test(world.readText(`${directory}/${file}`, 1_000_000) ?? ''),
    ),
  )
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
    // A file that cannot be read yet may have any content when it is used.
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

/** An agent finds the project's hooks from its working directory. */
function elsewhere({ pathsOf, root }: TamperAttempt): string | null {
  const outside = pathsOf('.').find((directory) => directory !== root && !directory.startsWith(`${root}/`))
  return outside === undefined ? null : `in ${outside}, where the project's hooks do not apply`
}
