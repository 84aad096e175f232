import { constants, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errnoOf, orElse } from './fs-error.ts'
import { mayAccess } from './path-kind.ts'

export interface CgroupLimits {
  readonly memoryBytes: number
  readonly cpus: number
  readonly pids: number
}

/** A cgroup with limits. Its members are processes that joined and their descendants. */
export interface Cgroup {
  /** Directories to join by writing to their `cgroup.procs`. Empty when no controller is available. */
  readonly directories: readonly string[]
  /** Whether joining may be refused although the rest was allowed, as in a delegated subtree. */
  readonly mayRefuse: boolean
  /** Why a limit is not enforced, by controller; null when it is. */
  readonly missing: Readonly<Record<CgroupController, string | null>>
  /** How many of its processes were killed out of memory so far. */
  oomKills(): number
}

/**
 * Creates a cgroup with this name and these limits, in this process's hierarchy of version 1 or 2, as far as the system allows.
 * `planned` is called with every directory before it is created, so a crash leaves no unknown directory.
 */
export function makeCgroup(
  name: string,
  limits: CgroupLimits,
  planned: (directories: readonly string[]) => void,
): Cgroup {
  const places = cgroupPlaces(readIfThere('/proc/self/cgroup') ?? '', '/sys/fs/cgroup')
  const missing: Record<CgroupController, string | null> = { memory: null, cpu: null, pids: null }
  const made = new Map<string, string>()
  planned([
    ...new Set(
      Object.values(places).flatMap((place) => (place.kind === 'at' ? [join(place.parent, name)] : [])),
    ),
  ])
  for (const controller of ['memory', 'cpu', 'pids'] as const) {
    const place = places[controller]
    if (place.kind === 'none') {
      missing[controller] = place.why
      continue
    }
    const directory = join(place.parent, name)
    const why = tryTo(() => {
      if (!made.has(directory)) mkdirSync(directory)
      made.set(directory, place.version)
      for (const [file, value] of settings[place.version][controller](limits))
        writeFileSync(join(directory, file), value)
      for (const [file, value] of whereThere[place.version][controller](limits))
        writeIfThere(join(directory, file), value)
    })
    if (why !== null) missing[controller] = `its cgroup cannot be set up: ${why}`
  }
  const memory = places.memory.kind === 'at' ? places.memory : null
  const counter =
    memory === null
      ? null
      : join(memory.parent, name, memory.version === 'v1' ? 'memory.oom_control' : 'memory.events')
  return {
    directories: [...made.keys()],
    mayRefuse: [...made.values()].includes('v2'),
    missing,
    oomKills: () => Number(/^oom_kill (\d+)$/m.exec((counter && readIfThere(counter)) ?? '')?.[1] ?? 0),
  }
}

/** Kills its processes and removes it. Returns null, or why it could not be removed. */
export async function removeCgroup(directory: string): Promise<string | null> {
  for (let tries = 0; ; tries++) {
    for (const pid of processesIn(directory)) tryTo(() => process.kill(pid, 'SIGKILL'))
    try {
      rmdirSync(directory)
      return null
    } catch (cause) {
      if (errnoOf(cause) === 'ENOENT') return null
      if (errnoOf(cause) !== 'EBUSY' || tries >= removeTriesMax)
        return `cannot remove the cgroup ${directory}: ${cause instanceof Error ? cause.message : String(cause)}`
    }
    await sleep(10)
  }
}

const removeTriesMax = 200
const periodMicros = 100_000

type Setting = (limits: CgroupLimits) => readonly (readonly [file: string, value: string])[]

const quota = ({ cpus }: CgroupLimits): string => String(Math.max(1_000, Math.round(cpus * periodMicros)))

const settings: Readonly<Record<'v1' | 'v2', Readonly<Record<CgroupController, Setting>>>> = {
  v1: {
    memory: ({ memoryBytes }) => [['memory.limit_in_bytes', String(memoryBytes)]],
    cpu: (limits) => [
      ['cpu.cfs_period_us', String(periodMicros)],
      ['cpu.cfs_quota_us', quota(limits)],
    ],
    pids: ({ pids }) => [['pids.max', String(pids)]],
  },
  v2: {
    memory: ({ memoryBytes }) => [['memory.max', String(memoryBytes)]],
    cpu: (limits) => [['cpu.max', `${quota(limits)} ${periodMicros}`]],
    pids: ({ pids }) => [['pids.max', String(pids)]],
  },
}

/** Limit swap too where the kernel counts it. */
const whereThere: typeof settings = {
  v1: {
    memory: ({ memoryBytes }) => [['memory.memsw.limit_in_bytes', String(memoryBytes)]],
    cpu: () => [],
    pids: () => [],
  },
  v2: { memory: () => [['memory.swap.max', '0']], cpu: () => [], pids: () => [] },
}

function processesIn(directory: string): readonly number[] {
  const text = readIfThere(join(directory, 'cgroup.procs')) ?? ''
  return text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 1)
}

function writeIfThere(path: string, value: string): void {
  if (readIfThere(path) !== null) writeFileSync(path, value)
}

function readIfThere(path: string): string | null {
  return orElse(null, () => readFileSync(path, 'utf8'))
}

/** The system's error message; null on success. */
function tryTo(work: () => void): string | null {
  try {
    work()
    return null
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}

type CgroupController = 'memory' | 'cpu' | 'pids'

/** The directory in which a cgroup may be created. */
type CgroupPlace =
  | { readonly kind: 'at'; readonly version: 'v1' | 'v2'; readonly parent: string }
  | { readonly kind: 'none'; readonly why: string }

/**
 * Where cgroups with these controllers can be created. `own`: the text of /proc/self/cgroup; `root`: where cgroups are mounted.
 *
 * In version 1 that is below this process's cgroup. In version 2 a cgroup with processes cannot have limited children, so it is a
 * sibling or further up, where the system or a delegation allows writing.
 */
export function cgroupPlaces(own: string, root: string): Readonly<Record<CgroupController, CgroupPlace>> {
  const lines = own.split('\n').flatMap((line) => {
    const match = /^\d+:([^:]*):(\/.*)$/.exec(line)
    return match === null ? [] : [{ controllers: match[1] ?? '', path: match[2] ?? '/' }]
  })
  const place = (controller: CgroupController): CgroupPlace => {
    const first = lines.find(({ controllers }) => controllers.split(',').includes(controller))
    if (first !== undefined) return inVersion1(root, first.controllers, controller, first.path)
    const second = lines.find(({ controllers }) => controllers === '')
    return second === undefined
      ? { kind: 'none', why: 'this system has no cgroups' }
      : inVersion2(root, second.path, controller)
  }
  return { memory: place('memory'), cpu: place('cpu'), pids: place('pids') }
}

function inVersion1(root: string, controllers: string, controller: string, path: string): CgroupPlace {
  const mount = [controllers, controller].map((name) => join(root, name)).find((dir) => existsSync(dir))
  if (mount === undefined)
    return { kind: 'none', why: `the ${controller} cgroups are not mounted below ${root}` }
  // In a container the path may be of the host and not visible here.
  const parent = [path === '/' ? mount : join(mount, path), mount].find((dir) => existsSync(dir)) ?? mount
  if (isWritable(parent)) return { kind: 'at', version: 'v1', parent }
  return { kind: 'none', why: `this user may not make cgroups below ${parent}` }
}

function inVersion2(root: string, path: string, controller: string): CgroupPlace {
  if (!existsSync(join(root, 'cgroup.controllers')))
    return { kind: 'none', why: `no cgroups of version 2 are mounted at ${root}` }
  const start = join(root, path)
  for (let at = existsSync(start) ? start : root; ; at = dirname(at)) {
    const given = (readIfThere(join(at, 'cgroup.subtree_control')) ?? '').trim().split(/\s+/)
    if (given.includes(controller) && isWritable(at) && isWritable(join(at, 'cgroup.procs')))
      return { kind: 'at', version: 'v2', parent: at }
    if (at === root || at === '/') break
  }
  return { kind: 'none', why: `no cgroup with the ${controller} controller is delegated to this user` }
}

function isWritable(path: string): boolean {
  return mayAccess(path, constants.W_OK)
}
