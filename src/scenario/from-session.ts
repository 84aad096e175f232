import { basename, dirname, join, relative, resolve } from 'node:path'
import { parse } from 'unbash'
import { stringify } from 'yaml'
import type { SessionCommand, SessionFacts } from '../agents/session-facts.ts'
import { readSessionLines } from '../agents/session-file.ts'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { asObject, type JsonObject } from '../core/json-fields.ts'
import { kindOfCommand } from '../core/kind-of-command.ts'
import { createRedaction, type Redaction } from '../core/redaction.ts'
import type { StoredCall } from '../guard-engine/contract.ts'
import { mayChangeFiles } from '../guard-engine/evidence/may-change-files.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { allLedgerFiles, readLedger } from '../guard-engine/ledger/read-ledger.ts'
import { isProtectedName } from '../guard-engine/protected-path.ts'
import { makeDirectories } from '../io/directory.ts'
import { exec } from '../io/exec.ts'
import { readTextInside, removeTree, writeFileAtomic } from '../io/files.ts'
import { readJsonl } from '../io/jsonl.ts'
import { listFiles } from '../io/list-files.ts'
import { isDirectory, isFile, pathKind } from '../io/path-kind.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'
import { quoteWord } from '../shell/quote-word.ts'
import { simpleCommand, simpleCommandsIn } from '../shell/simple-command.ts'
import { schemaLine } from './new-scenario.ts'
import { slug } from './plan.ts'
import { scenarioSchema } from './schema.ts'

export interface FromSessionOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Name of the scenario. Default: from the first prompt. */
  readonly name?: string
  /** Where the scenario and its template go. */
  readonly directory: string
  /** The repository, if it is not where the session ran any more. */
  readonly repository?: string
}

/**
 * A scenario from a transcript of Claude Code, a rollout of Codex, or a session of the guard's ledger: the prompts, the tree at the start,
 * and the checks that the session ran.
 */
export async function scenarioFromSession(session: string, options: FromSessionOptions) {
  const { cwd, env } = options
  const facts = await readSession(session, options)
  const root = await sessionRoot(facts, options)
  const prompts = facts.prompts.map((text) => relocated(text, root))
  const [prompt] = prompts
  if (prompt === undefined)
    throw new GantryError('USAGE', `${session} has no prompt of a user`, {
      hint: 'Name the file of a whole session.',
    })
  const redaction = createRedaction([], env)
  const name = options.name ?? redaction.text(prompt).split(/\s+/).slice(0, 6).join(' ').slice(0, 100)
  if (!scenarioSchema.shape.name.safeParse(name).success)
    throw new GantryError('USAGE', 'the name of a scenario has 1 to 200 characters', {
      hint: 'Give another one with --name.',
    })
  const base = resolve(cwd, options.directory)
  const folder = slug(name).slice(0, 60)
  const template = join(base, folder)
  const scenario = join(base, `${folder}.yaml`)
  const patchFile = join(base, `${folder}.patch`)
  const taken = [scenario, template, patchFile].find((path) => pathKind(path) !== null)
  if (taken !== undefined)
    throw new GantryError('USAGE', `${relative(cwd, taken)} already exists`, {
      hint: 'Choose another name with --name, or remove it.',
    })
  const repository = await repositoryOf(facts, options)
  const { commit, why } = await commitOf(facts, repository, options)
  const found = checksOf(facts, root, redaction)
  try {
    await writeTemplate(template, { repository, commit }, options)
    const left = removeSecrets(template, redaction)
    const patch = await putBack(facts, { root, template, redaction })
    if (patch !== '') writeFileAtomic(patchFile, patch)
    writeFileAtomic(
      scenario,
      schemaLine('scenario', base, cwd) +
        scenarioText(name, folder, { ...facts, prompts }, found.checks, redaction),
    )
    return {
      /** The scenario first. Relative to the working directory. */
      files: [scenario, template, ...(patch === '' ? [] : [patchFile])].map((path) => relative(cwd, path)),
      /** The gates: checks that the session ran. Without one the scenario has a gate that always fails. */
      checks: found.checks,
      /** What a person still has to decide. */
      decide: toDecide(facts, { ...found, why, left, patch }),
    }
  } catch (error) {
    for (const path of [scenario, template, patchFile]) removeTree(path)
    throw error
  }
}

async function readSession(session: string, { cwd, env }: FromSessionOptions): Promise<SessionFacts> {
  const path = resolve(cwd, session)
  const ledgers = allLedgerFiles(guardHome(env))
  const named = ledgers.filter((file) => file === path || basename(file, '.jsonl') === session)
  const begun = session === '' ? [] : ledgers.filter((file) => basename(file).startsWith(session))
  const [ledger, ...others] = named.length > 0 ? named : begun
  if (ledger !== undefined && (ledger === path || !isFile(path))) {
    if (others.length === 0) return ledgerSession(guardHome(env), ledger)
    throw new GantryError('USAGE', `${session} fits several sessions: ${[ledger, ...others].join(', ')}`, {
      hint: 'Give the whole id, or the path of one of them.',
    })
  }
  if (!isFile(path))
    throw new GantryError('NOT_FOUND', `${session} is neither a file nor a session of the guard`, {
      hint: 'Name a transcript (~/.claude/projects/…/*.jsonl), a rollout (~/.codex/sessions/…/*.jsonl) or the id of a guarded session.',
    })
  const lines: JsonObject[] = []
  for await (const line of readJsonl(path)) {
    const object = asObject(line)
    if (object !== null) lines.push(object)
  }
  const facts = readSessionLines(lines)
  if (facts !== null) return facts
  throw new GantryError('INVALID_FILE', `${session} is not a session of Claude Code, Codex or the guard`, {
    hint: 'It must have one JSON object per line, as these agents write them.',
  })
}

/** The ledger keeps the beginning of each prompt, and no contents of files. */
function ledgerSession(home: string, path: string): SessionFacts {
  const events = readLedger(home, path).entries.flatMap((entry) => (entry.kind === 'event' ? [entry] : []))
  const [first] = events
  return {
    agent: 'guard',
    cwd: first?.event.cwd ?? '',
    startedAt: first?.at ?? '',
    commit: null,
    prompts: events.flatMap(({ event }) =>
      event.kind === 'prompt' && event.flag !== true && event.text !== undefined ? [event.text] : [],
    ),
    commands: events.flatMap(({ event: { kind, call, cwd } }) =>
      kind === 'tool_after' && call?.command !== undefined
        ? [{ command: call.command, cwd: cwd ?? first?.event.cwd ?? '', exitCode: exitCodeOf(call.outcome) }]
        : [],
    ),
    originals: new Map(),
  }
}

/** Some agents report only whether a command failed, some not even that. */
function exitCodeOf(outcome: StoredCall['outcome']): number | null {
  const unsaid = { success: 0, failure: 1, unknown: null } as const
  return outcome === undefined ? null : (outcome.exitCode ?? unsaid[outcome.kind])
}

/** The root of the repository where the session ran. It may have moved since. */
async function sessionRoot({ cwd }: SessionFacts, options: FromSessionOptions): Promise<string> {
  const below = isDirectory(cwd) ? await git(['rev-parse', '--show-prefix'], cwd, options) : null
  return resolve(cwd, ...(below ?? '').split('/').map((name) => (name === '' ? '' : '..')))
}

/** Paths of the session's repository as seen from a directory in it: no trial may reach back to where the session ran. */
function relocated(text: string, root: string, from = root): string {
  const itself = new RegExp(`(?<![\\w./-])${RegExp.escape(root)}(?![\\w-]|\\.\\w)`, 'g')
  return text.replaceAll(itself, relative(from, root) || '.')
}

async function repositoryOf({ cwd: ran }: SessionFacts, options: FromSessionOptions): Promise<string> {
  const directory = options.repository === undefined ? ran : resolve(options.cwd, options.repository)
  const found = isDirectory(directory)
    ? await git(['rev-parse', '--show-toplevel'], directory, options)
    : null
  if (found !== null) return found
  throw new GantryError('NOT_FOUND', `${directory} is not in a git repository`, {
    hint: 'The template comes from the commit at the start of the session. Name the repository with --repository.',
  })
}

/** The commit at the start of the session, and why it is this one if the session does not name it. */
async function commitOf({ commit, startedAt }: SessionFacts, root: string, options: FromSessionOptions) {
  if (commit !== null && (await git(['cat-file', '-t', commit], root, options)) === 'commit')
    return { commit, why: null }
  const isDated = !Number.isNaN(Date.parse(startedAt))
  const before = isDated ? [`--before=${startedAt}`] : []
  const found = await git(['rev-list', '-1', ...before, 'HEAD'], root, options)
  if (found === null || found === '')
    throw new GantryError('NOT_FOUND', `${root} has no commit from before the session`, {
      hint: 'Name the repository with --repository, with the branch of that time checked out.',
    })
  const lacks = commit === null ? '' : `The repository does not have ${commit}, where the session began. `
  const which = isDated
    ? 'the last one before the session began'
    : 'the one checked out now, because the session has no times'
  return { commit: found, why: `${lacks}The template is commit ${found.slice(0, 10)}, ${which}.` }
}

async function git(
  args: readonly string[],
  cwd: string,
  { env, signal }: FromSessionOptions,
): Promise<string | null> {
  const { exitCode, stdout } = await exec({
    argv: ['git', ...args],
    cwd,
    env: { PATH: env.PATH ?? '', HOME: env.HOME ?? '', LC_ALL: 'C' },
    timeoutMs: 60_000,
    maxOutputBytes: 1 << 20,
    signal,
  })
  return exitCode === 0 ? stdout.text.trim() : null
}

async function writeTemplate(
  template: string,
  { repository, commit }: { readonly repository: string; readonly commit: string },
  options: FromSessionOptions,
): Promise<void> {
  using scratch = temporaryDirectory('gantry-session-')
  const archive = join(scratch.path, 'tree.tar')
  makeDirectories(template)
  const made = await git(['archive', '--format=tar', '-o', archive, commit], repository, options)
  const { exitCode } = await exec({
    argv: ['tar', '-xf', archive, '-C', template],
    cwd: template,
    env: { PATH: options.env.PATH ?? '' },
    timeoutMs: 60_000,
    maxOutputBytes: 4_096,
    signal: options.signal,
  })
  if (made === null || exitCode !== 0)
    throw new GantryError('SPAWN_FAILED', `the tree of ${commit} could not be written to ${template}`)
}

/** What the guard protects, and files of settings that contain a token. Returns those that it removed. */
function removeSecrets(template: string, redaction: Redaction): readonly string[] {
  const left = listFiles(template).filter((path) => {
    if (isProtectedName(basename(path))) return true
    const file = /(?:^|\/)\.[^./]+$/.test(path) ? readTextInside(template, path, { maxBytes: 1 << 16 }) : null
    return file?.kind === 'text' && redaction.text(file.text) !== file.text
  })
  for (const path of left) removeTree(join(template, path))
  return left
}

/** Files that differed from the commit when the agent first touched them. Returns the changes as a patch. */
async function putBack(
  { originals }: SessionFacts,
  {
    root,
    template,
    redaction,
  }: { readonly root: string; readonly template: string; readonly redaction: Redaction },
): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff')
  let patch = ''
  for (const [absolute, then] of originals) {
    const path = relative(root, absolute)
    if (path.startsWith('..') || isProtectedName(basename(path))) continue
    const file = readTextInside(template, path, { maxBytes: 1 << 24 })
    const committed = file.kind === 'text' ? file.text : null
    if (committed === then || file.kind === 'outside') continue
    if (then === null) removeTree(join(template, path))
    else {
      makeDirectories(dirname(join(template, path)))
      writeFileAtomic(join(template, path), redaction.text(then))
    }
    patch += createTwoFilesPatch(
      path,
      path,
      committed ?? '',
      redaction.text(then ?? ''),
      undefined,
      undefined,
      {
        context: 3,
        headerOptions: FILE_HEADERS_ONLY,
      },
    )
  }
  return patch
}

/** Commands that may check the work, redacted: known checks, and those that failed first and succeeded in the end. */
function checksOf({ commands }: SessionFacts, root: string, redaction: Redaction) {
  const inside = commands.map((run) => placed(run)).filter(({ cwd }) => !relative(root, cwd).startsWith('..'))
  const byCommand = Map.groupBy(inside, ({ command, cwd }) => {
    const under = relative(root, cwd)
    return `${under === '' ? '' : `cd ${quoteWord(under)} && `}${relocated(command, root, cwd)}`
  })
  const possible = [...byCommand].flatMap(([command, runs]) => {
    const isGreen = runs.at(-1)?.exitCode === 0
    const wasRed = runs.some(({ exitCode }) => exitCode !== null && exitCode !== 0)
    return isGreen && (wasRed || kindOfCommand(command) !== 'other') ? [command] : []
  })
  const [known, unknown] = [possible.filter(isCheck), possible.filter((command) => !isCheck(command))]
  const gates = known.slice(0, maxChecks)
  const checks = gates.map(redaction.text)
  return {
    checks,
    /** Checks beyond the number of gates. */
    more: known.slice(maxChecks).map(redaction.text),
    /** Not known as checks, so nothing may run them. */
    unknown: unknown.map(redaction.text),
    redacted: checks.filter((command, index) => command !== gates[index]),
  }
}

/** Whether a command only tests, builds or lints, in the repository: it becomes a gate, and gates run without a question. */
function isCheck(command: string): boolean {
  const script = parse(command)
  const commands = simpleCommandsIn(script)
  const isKnown = (line: string): boolean => kindOfCommand(line) !== 'other'
  return (
    script.errors === undefined &&
    !reachesOut.test(command) &&
    commands.some((each) => isKnown(simpleCommand(each).words.join(' '))) &&
    !commands.some((each) => mayChangeFiles(each, isKnown))
  )
}

/** Writes a file, names a path elsewhere, runs a file in the same shell, or gives the result away. */
const reachesOut =
  />(?!&\d|\s*\/dev\/null\b)|(?<![\w.])(?:\.|source|tee|eval|git)\s|(?<=^|[\s=:"'])(?:~|\/(?!dev\/null\b))|\b(?:publish|deploy|release|install|push)\b/

const intoDirectory = /^cd\s+(?:"([^"$`\\]+)"|'([^']+)'|([\w./@+-]+))\s*(?:&&|;|\n)\s*(\S.*)$/s

/** `cd web && npm test` is `npm test` in web. */
function placed(run: SessionCommand): SessionCommand {
  const command = run.command.trim()
  const [, double, single, bare, rest] = intoDirectory.exec(command) ?? []
  if (rest === undefined) return { ...run, command }
  return placed({ ...run, command: rest, cwd: resolve(run.cwd, double ?? single ?? bare ?? '') })
}

const maxChecks = 5
/** A scenario needs a gate, and this one cannot pass by mistake. */
const missingGate = "echo 'write the gates of this scenario'; false"

function scenarioText(
  name: string,
  folder: string,
  { prompts, agent, startedAt }: SessionFacts,
  checks: readonly string[],
  redaction: Redaction,
): string {
  const when = startedAt === '' ? '' : `, ${startedAt.slice(0, 10)}`
  return stringify(
    {
      name,
      description: `From a session of ${agent === 'guard' ? 'a guarded agent' : agent}${when}.`,
      target: { binary: programOf(checks[0] ?? '') ?? 'git' },
      template_folder: folder,
      setup: {
        commands: [
          'git init -q && git add -A && git -c user.name=gantry -c user.email=gantry@localhost commit -qm Start',
        ],
      },
      task: { prompt: prompts.map(redaction.text).join('\n\n') },
      evaluation: {
        gates: (checks.length === 0 ? [missingGate] : checks).map((command) => ({
          type: 'command_succeeds',
          command,
        })),
      },
      tags: ['from-session'],
    },
    { lineWidth: 0 },
  )
}

function programOf(command: string): string | undefined {
  const isShell = '(?:if|for|while|until|case|set|export|unset|source|eval|exec|trap|cd)\\b'
  return new RegExp(`^(?:cd \\S+ && )?(?!${isShell})(\\w[\\w.-]*)(?:\\s|$)`).exec(command)?.[1]
}

function toDecide(
  { prompts, agent }: SessionFacts,
  found: ReturnType<typeof checksOf> & {
    readonly why: string | null
    readonly left: readonly string[]
    readonly patch: string
  },
): readonly string[] {
  const { checks, more, unknown, redacted, why, left, patch } = found
  const lines: readonly (string | false | null)[] = [
    checks.length === 0
      ? 'The session ran no known check that succeeded: write the gates that show whether the work is done.'
      : `Do the gates show what went wrong? The session gave ${counted(checks.length, 'check')}; add one for the failure that hurt.`,
    more.length > 0 && `${counted(more.length, 'more check')} did not become gates: ${more.join('; ')}`,
    unknown.length > 0 &&
      `Possible checks, not run, because they are not known as tests, builds or lint, or reach out of the repository: ${unknown.join('; ')}`,
    redacted.length > 0 && `A secret was removed from these gates, so they may fail: ${redacted.join('; ')}`,
    prompts.length > 1 &&
      `The prompts of ${prompts.length} turns are one text now: remove answers to questions that no longer come.`,
    agent === 'guard' &&
      'The ledger keeps the first 2,000 characters of a prompt: complete it if it was longer.',
    why,
    agent !== 'claude-code'
      ? 'What was not committed at the start is not recorded by this agent: add it to the template if it matters.'
      : patch !== '' &&
        'Files that were not committed at the start are in the template, and in the .patch: remove what is not needed.',
    left.length > 0 && `Left out, because they may contain secrets: ${left.join(', ')}.`,
    'Installed dependencies are not in the template: add a setup command if the checks need them.',
  ]
  return lines.filter((line) => typeof line === 'string')
}
