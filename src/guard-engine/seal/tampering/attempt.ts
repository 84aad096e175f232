import { isAbsolute, join, normalize } from 'node:path'
import type { ToolCall } from '../../../core/hook-event.ts'
import type { ResolvedPath, World } from '../../../shell/world.ts'
import type { EditHistory } from '../../contract.ts'
import { type CallTargets, callTargets } from '../../targets.ts'
import { type OwnMatcher, ownMatcher } from '../own-match.ts'
import { type SpokenRun, spokenRuns } from './spoken-runs.ts'

/** One tool call, seen with the question whether it would touch the guard. */
export interface Attempt {
  readonly call: ToolCall
  readonly targets: CallTargets
  readonly runs: readonly SpokenRun[]
  readonly root: string
  readonly world: World
  readonly match: OwnMatcher
  /** The text that is executed or written, whole. */
  readonly text: string
  /** Every path a word could mean: a command that changes directory on its way makes several. */
  pathsOf(word: string): readonly string[]
  /** Whether the agent has written this file in this session. */
  wroteIt(path: string): boolean
}

export interface AttemptPlace {
  readonly cwd: string
  readonly root: string
  readonly world: World
  readonly edits: EditHistory
}

/** A sentence that says what the call would do to the guard; null when nothing. */
export type Tampering = (attempt: Attempt) => string | null

export function attemptOf(call: ToolCall, { cwd, root, world: disk, edits }: AttemptPlace): Attempt {
  const { action } = call
  const world = remembering(disk)
  const start =
    action.kind === 'shell' && action.directory !== undefined ? absolute(action.directory, cwd, world) : cwd
  const targets = callTargets(call, cwd, disk)
  const runs = spokenRuns(call, targets)
  const directories = directoriesOf(runs, start, world)
  return {
    call,
    targets,
    runs,
    root,
    world,
    match: ownMatcher(world, start),
    text: textOf(call),
    wroteIt: (path) => edits.contents[path] !== undefined || edits.counts[path] !== undefined,
    pathsOf: (word) => {
      const path = inHome(word, world)
      return isAbsolute(path) ? [normalize(path)] : directories.map((directory) => join(directory, path))
    },
  }
}

/** Every check asks about the same paths, and each look costs. */
function remembering(disk: World): World {
  const known = new Map<string, ResolvedPath>()
  return {
    home: disk.home,
    platform: disk.platform,
    env: disk.env,
    get own() {
      return disk.own
    },
    list: (directory) => disk.list(directory),
    readText: (path, maxBytes) => disk.readText(path, maxBytes),
    resolve: (path) => {
      const found = known.get(path) ?? disk.resolve(path)
      known.set(path, found)
      return found
    },
  }
}

const changesDirectory = new Set(['cd', 'pushd', 'chdir'])

function directoriesOf(runs: readonly SpokenRun[], start: string, world: World): readonly string[] {
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
