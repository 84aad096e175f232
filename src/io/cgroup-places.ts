import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type CgroupController = 'memory' | 'cpu' | 'pids'

/** The directory below which a cgroup of ours may be made. */
export type CgroupPlace =
  | { readonly kind: 'at'; readonly version: 'v1' | 'v2'; readonly parent: string }
  | { readonly kind: 'none'; readonly why: string }

/**
 * Where cgroups can be made that have these controllers. `own`: the text of /proc/self/cgroup; `root`: where cgroups are mounted.
 *
 * In version 1 that is below our own. In version 2 a cgroup with processes has no limited children, so it is beside ours or
 * further up, wherever the system or a delegation lets us write.
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
  // In a container the path may be one of the host's, which is not to be seen here.
  const parent = [path === '/' ? mount : join(mount, path), mount].find((dir) => existsSync(dir)) ?? mount
  if (isWritable(parent)) return { kind: 'at', version: 'v1', parent }
  return { kind: 'none', why: `this user may not make cgroups below ${parent}` }
}

function inVersion2(root: string, path: string, controller: string): CgroupPlace {
  if (!existsSync(join(root, 'cgroup.controllers')))
    return { kind: 'none', why: `no cgroups of version 2 are mounted at ${root}` }
  const start = join(root, path)
  for (let at = existsSync(start) ? start : root; ; at = dirname(at)) {
    const given = readWords(join(at, 'cgroup.subtree_control'))
    if (given.includes(controller) && isWritable(at) && isWritable(join(at, 'cgroup.procs')))
      return { kind: 'at', version: 'v2', parent: at }
    if (at === root || at === '/') break
  }
  return { kind: 'none', why: `no cgroup with the ${controller} controller is delegated to this user` }
}

function readWords(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').trim().split(/\s+/)
  } catch {
    return []
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
