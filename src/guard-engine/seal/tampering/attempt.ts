import { basename, isAbsolute, join, normalize } from 'node:path'
import type { GuardedAgent, ToolCall } from '../../../core/hook-event.ts'
import type { World } from '../../../shell/world.ts'
import { isWrapper } from '../../../shell/wrappers.ts'
import type { EditHistory } from '../../contract.ts'
import { type CallTargets, callTargets } from '../../targets.ts'
import { guardedPathMatcher } from '../guarded-path-matcher.ts'

/** One tool call that may tamper with the guard. */
export type TamperAttempt = ReturnType<typeof attemptOf>

export interface AttemptPlace {
  readonly agent: GuardedAgent
  readonly cwd: string
  readonly root: string
  readonly world: World
  /** Called only when a check needs it: a long session has edited many files. */
  readonly edits: () => EditHistory
}

/** A sentence that says what the call would do to the guard; null when it does nothing. */
export type Tampering = (attempt: TamperAttempt) => string | null

export function attemptOf(call: ToolCall, { agent, cwd, root, world, edits }: AttemptPlace) {
  const { action } = call
  const start =
    action.kind === 'shell' && action.directory !== undefined ? absolute(action.directory, cwd, world) : cwd
  const targets = callTargets(call, cwd, world)
  const runs = possibleRuns(call, targets)
  const directories = directoriesOf(runs, start, world)
  return {
    call,
    targets,
    runs,
    root,
    /** The agent that makes the call. */
    agent,
    world,
    match: guardedPathMatcher(world, start),
    /** The complete text that is executed or written. */
    text: textOf(call),
    /** Whether the agent wrote this file in this session. */
    wroteIt: (path: string): boolean => {
      const file = edits().files[path]
      // A command that only names a file records its content too.
      return file !== undefined && (file.count > 0 || new Set(file.contents).size > 1)
    },
    /** Every path that a word could mean. There are several if a command changes directory on the way. */
    pathsOf: (word: string): readonly string[] => {
      const path = inHome(word, world).replace(/^\/proc\/[^/]+\/(?:cwd(?:\/|$)|root(?=\/))/, '')
      return isAbsolute(path) ? [normalize(path)] : directories.map((directory) => join(directory, path))
    },
  }
}

const changesDirectory = new Set(['cd', 'pushd', 'chdir'])

function directoriesOf(runs: readonly PossibleRun[], start: string, world: World): readonly string[] {
  const found = [start]
  for (const { words } of runs) {
    if (!changesDirectory.has(words[0] ?? '')) continue
    const to = words.slice(1).find((word) => word !== null && !/^-./.test(word))
    const here = found.at(-1) ?? start
    if (to !== undefined && to !== null && !found.includes(absolute(to, here, world)))
      found.push(absolute(to, here, world))
  }
  return found
}

function absolute(word: string, directory: string, world: World): string {
  const path = inHome(word, world)
  return isAbsolute(path) ? normalize(path) : join(directory, path)
}

function inHome(word: string, { home }: World): string {
  return /^[~$]/.test(word) ? word.replace(/^(~|\$HOME|\$\{HOME\})(?=\/|$)/, () => home) : word
}

function textOf({ action, input }: ToolCall): string {
  switch (action.kind) {
    case 'shell':
      return action.command
    case 'write':
      return action.content ?? ''
    case 'edit':
      return action.edits.map((edit) => edit.new).join('\n')
    case 'patch':
      return action.text
    case 'unknown':
      return JSON.stringify(input) ?? ''
    case 'read':
    case 'subagent':
      return ''
  }
}

/** A program that a call may run, with its words. null is a word that is not known before it runs. */
export interface PossibleRun {
  readonly words: readonly (string | null)[]
  /** Each word as a program name; empty when unknown. */
  readonly names: readonly string[]
  /** Index of the program, after its variable assignments; -1 when there are only assignments. */
  readonly first: number
  /** Taken from a text argument, such as `script -c '…'`: the program may be anywhere in it. */
  readonly loose: boolean
  /** Its words are only printed or searched for. */
  readonly onlyShows: boolean
}

/** The programs a call runs, and those in text arguments that may be run by a program. */
function possibleRuns(call: ToolCall, targets: CallTargets): readonly PossibleRun[] {
  const feeds = targets.runs.some(readsCommands)
  const direct = targets.runs.flatMap((words): readonly PossibleRun[] => {
    const onlyShows = !feeds && printers.has(nameOf(words[0]))
    const texts = words.filter((word): word is string => word !== null && /\s|,/.test(word))
    return [
      possibleRun(words, { onlyShows, loose: false }),
      ...(onlyShows ? [] : texts.map(looseRun)),
      ...(feeds ? [possibleRun(words.slice(1), { onlyShows: false, loose: true })] : []),
    ]
  })
  const opaque = targets.opaque.map(({ text }) => looseRun(text))
  const foreign = foreignTexts(call).map(looseRun)
  return [...direct, ...opaque, ...foreign]
}

/** Commands for another kind of shell or for an unknown tool. */
function foreignTexts({ action, input }: ToolCall): readonly string[] {
  if (action.kind === 'shell') return action.language === 'powershell' ? [action.command] : []
  if (action.kind !== 'unknown' || typeof input !== 'object' || input === null) return []
  return Object.entries(input).flatMap(([key, value]) =>
    /^(command|cmd|commands|script|code|args|argv|program|shell)$/i.test(key)
      ? [JSON.stringify(value) ?? '']
      : [],
  )
}

/** Index of the program in a run: first, inside wrappers, or anywhere in a text. -1 when absent. */
export function programAt(
  { names, first, loose }: PossibleRun,
  isProgram: (name: string) => boolean,
): number {
  const program = names[first]
  if (program === undefined) return -1
  if (loose || runners.has(program) || isWrapper(program)) return names.findIndex(isProgram)
  return isProgram(program) ? first : -1
}

/** `/usr/bin/Git.exe` as `git`. */
export function nameOf(word: string | null | undefined): string {
  const name = (word?.includes('/') ? basename(word) : (word ?? '')).toLowerCase()
  return name.includes('.') ? name.replace(/\.(exe|cmd|bat|ps1|js|mjs|cjs|ts)$/, '') : name
}

function looseRun(text: string): PossibleRun {
  const words = text.split(/[\s;&|()[\]{}'"`,]+/).filter((word) => word !== '')
  return possibleRun(words, { loose: true, onlyShows: false })
}

function possibleRun(
  words: PossibleRun['words'],
  how: Pick<PossibleRun, 'loose' | 'onlyShows'>,
): PossibleRun {
  const first = words.findIndex((word) => !word?.includes('=') || !/^\w+=/.test(word))
  return { words, names: words.map(nameOf), first, ...how }
}

/** Programs that print or search for their words and do not run them. */
const printers = new Set(
  'echo printf grep egrep fgrep rg ag ack cat head tail less more bat wc ls tree stat file diff cmp jq yq test [ [[ : true false man type which git gh read export set unset declare local sort uniq cut tr'.split(
    ' ',
  ),
)

/** Programs, besides the wrappers, that may run their arguments. */
const runners = new Set(
  'expect socat parallel bun deno node sh bash zsh dash ksh fish ssh at batch nsenter pwsh powershell cmd find python python3 perl ruby'.split(
    ' ',
  ),
)

const readers = new Set(
  'sh bash zsh dash ksh fish python python3 node perl ruby at batch expect script pwsh'.split(' '),
)

/** A shell without a script reads its commands from standard input. */
function readsCommands(words: readonly (string | null)[]): boolean {
  const name = nameOf(words[0])
  if (name === 'xargs' || name === 'parallel') return true
  return readers.has(name) && !words.slice(1).some((word) => word === null || !/^-(?!$)/.test(word))
}
