import { join } from 'node:path'
import { readTextIfExists } from '../../io/directory.ts'
import { pathKind } from '../../io/path-kind.ts'

/** The cgroup of a container, if it is on this machine and readable. It has data that no engine reports. */
export type ContainerCgroup = NonNullable<ReturnType<typeof containerCgroup>>

/** null when the engine runs elsewhere: in a virtual machine, or in another pid namespace, where its pid means another process. */
export function containerCgroup(containerId: string, pid: number) {
  const own = read(`/proc/${pid}/cgroup`)
  if (own === null || !own.includes(containerId)) return null
  const memory = directoryFor('memory', own)
  const procs = directoryFor('pids', own) ?? memory
  return {
    /** Processes killed so far for lack of memory; null when it cannot be read. */
    oomKills: (): number | null => {
      const counter =
        memory && (read(join(memory, 'memory.events')) ?? read(join(memory, 'memory.oom_control')))
      return numberIn(counter, /^oom_kill (\d+)$/m)
    },
    /** The limit that the kernel enforces; null when it cannot be read. */
    memoryLimitBytes: (): number | null => {
      const limit =
        memory && (read(join(memory, 'memory.max')) ?? read(join(memory, 'memory.limit_in_bytes')))
      return numberIn(limit, /^(\d+)$/m)
    },
    /** Living processes of this user; null when it cannot be read. */
    processesOf: (uid: number): readonly number[] | null => {
      const pids = procs === null ? null : read(join(procs, 'cgroup.procs'))
      return pids === null
        ? null
        : pids
            .split('\n')
            .map(Number)
            .filter((each) => each > 0 && livesAs(each, uid))
    },
  }
}

/** Processes killed so far for lack of memory, in any cgroup of this machine; null when it cannot be read. */
export function machineOomKills(): number | null {
  return numberIn(read('/proc/vmstat'), /^oom_kill (\d+)$/m)
}

/** Version 1 has a hierarchy for each controller, version 2 one for all; a machine may have both. */
function directoryFor(controller: string, own: string): string | null {
  const root = '/sys/fs/cgroup'
  for (const line of own.split('\n')) {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    const mounts = controllers.split(',').includes(controller)
      ? [join(root, controllers), join(root, controller)]
      : controllers === ''
        ? [root]
        : []
    for (const mount of mounts) {
      const directory = join(mount, path)
      if (pathKind(join(directory, 'cgroup.procs')) !== null) return directory
    }
  }
  return null
}

function livesAs(pid: number, uid: number): boolean {
  const status = read(`/proc/${pid}/status`)
  if (status === null || /^State:\s+[ZX]/m.test(status)) return false
  return numberIn(status, /^Uid:\s+(\d+)/m) === uid
}

function numberIn(text: string | null, form: RegExp): number | null {
  const found = text === null ? undefined : form.exec(text)?.[1]
  return found === undefined ? null : Number(found)
}

/** null when the file cannot be read. */
function read(path: string): string | null {
  try {
    return readTextIfExists(path)
  } catch {
    return null
  }
}
