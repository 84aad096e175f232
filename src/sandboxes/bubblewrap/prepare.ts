import { join } from 'node:path'
import { type Cgroup, makeCgroup } from '../../io/cgroup.ts'
import { copyFileInto } from '../../io/copy-file-into.ts'
import { fileStamp, makeDirectories, moveIfExists } from '../../io/directory.ts'
import { fileOwner, ownUser } from '../../io/file-owner.ts'
import { removeTree, writeFileAtomic } from '../../io/files.ts'
import { findProgram } from '../../io/find-program.ts'
import { describeHost } from '../../io/host.ts'
import { randomSuffix } from '../../io/ids.ts'
import { isHostRoot } from '../../io/is-root.ts'
import { isDirectory, isFile } from '../../io/path-kind.ts'
import { sha256 } from '../../io/sha256.ts'
import { textBeside } from '../../io/text-beside.ts'
import type { SandboxNetwork, SandboxRequest, SandboxStep } from '../contract.ts'
import {
  certificateVariables,
  countedFor,
  hosts,
  type LaidPlace,
  layPlace,
  overlayOptions,
  placesOf,
  placeVariables,
  type SandboxPlace,
  searchPath,
} from '../places.ts'
import type { SandboxState } from '../state.ts'
import { bwrapArguments, stepUser } from './bwrap-arguments.ts'
import { hostPrograms } from './host-programs.ts'
import { type LaunchAct, launcherArgv } from './launcher.ts'
import { type LimitPlan, ownProcesses, planLimits } from './limits.ts'
import {
  hostUser,
  type Overlay,
  planMountsAsPlainUser,
  planMountsAsRoot,
  type WantedMount,
} from './plan-mounts.ts'
import { seccompFilter } from './seccomp/filter.ts'

/** The parts that are the same for all steps of a run. */
export interface Prepared extends LimitPlan {
  readonly request: SandboxRequest
  readonly state: SandboxState
  readonly cgroup: Cgroup | null
  /** Directories of the host that steps write to, directly or through an overlay. */
  readonly writable: readonly string[]
  /** Those of them that count for the disk limit. */
  readonly counted: readonly string[]
  /** A description of what replaces an image. */
  readonly image: string
  /** Directories on the caller's PATH that steps cannot see. */
  readonly hidden: readonly string[]
  readonly closed: AbortSignal
  /** null on an unsupported processor. */
  argvFor(
    step: Pick<SandboxStep, 'command' | 'env'> | WrappedProgram,
    statusFile: string,
    options?: {
      /** Prints the engine's version first, and joins a cgroup only where that may be refused, because it is slow. */
      readonly isTrial?: boolean
      /** The path of a pipe: the command starts when it contains a line, and never if it ends without one. */
      readonly startPipe?: string | undefined
    },
  ): readonly [string, ...string[]] | null
}

/** A program that has the variables and streams of the caller. */
export interface WrappedProgram {
  readonly argv: readonly string[]
}

export interface Programs {
  readonly bwrap: string
  readonly perl: string
}

/** `copy`: of the repository, where it cannot be the lowest layer of an overlay. `withoutCgroup`: why no cgroup is used. */
export function prepare(
  request: SandboxRequest,
  programs: Programs,
  state: SandboxState,
  copy: string | null,
  closed: AbortSignal,
  withoutCgroup: string | null,
): Prepared {
  const { arch, cpus } = describeHost()
  const filter = seccompFilter(arch) ?? new Uint8Array()
  const filterFile = join(state.shared, `seccomp-${sha256(filter).slice(0, 16)}`)
  if (!isFile(filterFile)) writeFileAtomic(filterFile, filter)
  const { limits } = request
  const sockets = socketsOf(request)
  const cgroup =
    withoutCgroup === null
      ? makeCgroup(state.label, { ...limits, pids: limits.pids + ownProcesses }, state.noteCgroups)
      : null
  const limitPlan = planLimits(
    limits,
    cgroup?.missing ?? { memory: withoutCgroup, cpu: withoutCgroup, pids: withoutCgroup },
    { cpus, prlimit: findProgram('prlimit', '/usr/bin:/bin') },
  )
  const rootTree = request.image.startsWith('/') ? request.image : null
  const host = rootTree === null ? hostPrograms(request) : null
  const places = placesOf(request)
    .map((place) => (copy === null || place.targets[0] !== '/workspace' ? place : copied(place, copy)))
    // Nothing can be added to a root directory that is read-only.
    .map((place) => (rootTree === null ? place : { ...place, targets: place.targets.filter(isFixed) }))
  const own = isHostRoot() ? { uid: hostUser, gid: hostUser } : ownUser()
  const laid = places.map((place, index) =>
    layPlace(place, join(state.directory, String(index)), request, own),
  )
  const wanted: WantedMount[] = [
    ...(host?.trees ?? []).map((tree) => ({
      ...{ writable: false, source: tree, targets: [tree], owner: null },
      isPublic: /^\/(?:usr|bin|sbin|lib\w*)(?:\/|$)/.test(tree),
    })),
    ...(host === null ? [] : etcMounts(state.shared, request.network)),
    ...(rootTree === null ? [] : [{ writable: false, source: rootTree, targets: ['/'], owner: null }]),
    ...laid.map((place, index) => ({
      ...{ source: place.source, targets: place.targets, writable: place.writable !== null },
      // Layers belong to the user of the steps already; files of others appear as theirs.
      owner: place.isForeign ? fileOwner(place.source) : null,
      ...(place.above !== null && { overlay: overlayAt(place, join(state.directory, String(index))) }),
    })),
    ...(sockets.length > 0
      ? [
          {
            writable: false,
            source: join(state.directory, networkDirectory),
            targets: [proxyInside],
            owner: null,
          },
        ]
      : []),
  ]
  const writable = laid.flatMap((place) => place.writable ?? [])
  const plan = isHostRoot()
    ? planMountsAsRoot(wanted, isDirectory('/mnt') ? '/mnt' : '/tmp')
    : planMountsAsPlainUser(wanted)
  const env = {
    ...gitVariables,
    ...(request.network === 'allow' && proxyVariables),
    ...(request.network !== 'none' && certificateVariables),
    PATH: host?.path ?? searchPath(request, imagePath),
    ...host?.env,
  }
  const root = plan.mounts.find(({ target }) => target === '/')
  return {
    ...limitPlan,
    ...{ request, state, cgroup, closed },
    writable,
    counted: countedFor(request, writable),
    hidden: host?.hidden ?? [],
    image:
      host === null
        ? `no image; the tree ${rootTree} is the root directory, read-only`
        : `no image (${request.image} is not used); the programs of this machine, read-only: ${host.trees.join(', ')}`,
    argvFor: (step, statusFile, { isTrial = false, startPipe } = {}) => {
      const isWrapped = 'argv' in step
      const acts: LaunchAct[] = [
        ['read', '3', filterFile],
        ['write', '4', statusFile],
        ...(startPipe === undefined ? [] : [['stdin', startPipe] as const]),
        ...(isTrial && cgroup?.mayRefuse !== true ? [] : (cgroup?.directories ?? [])).map(
          (directory) => ['cgroup', directory] as const,
        ),
        ...(isTrial ? [['show', programs.bwrap, '--version'] as const] : []),
        ...plan.acts,
      ]
      const bwrap = bwrapArguments({
        program: programs.bwrap,
        rootTree: root?.source ?? null,
        links: host?.links ?? [],
        mounts: plan.mounts.filter(({ target }) => target !== '/'),
        network: request.network,
        tmpBytes: Math.min(Math.floor(limits.memoryBytes / 2), tmpBytesMax),
        cwd: isWrapped ? request.repository : '/workspace',
        inheritsEnv: isWrapped,
        env: isWrapped ? env : { HOME, ...env, ...step.env },
        seccompFd: 3,
        statusFd: 4,
        // Both streams are merged inside, so that bwrap's own messages stay separate. The shell has its path, because
        // the repository is on the PATH and may contain one of its own. bwrap would start the command also at the end of
        // a pipe, which comes when this process is killed, so the shell waits instead.
        command: [
          ...limitPlan.wrapper,
          ...sockets.flatMap(({ name, port }) => {
            return [programs.perl, '-e', forwarder, '--', String(port), `${proxyInside}/${name}`]
          }),
          ...(isWrapped
            ? step.argv
            : [
                ...['/bin/sh', '-c'],
                `${startPipe === undefined ? '' : 'read -r _ && '}exec /bin/sh -c "$0" 2>&1 </dev/null`,
                step.command,
              ]),
        ],
      })
      return launcherArgv(programs.perl, arch, acts, bwrap)
    },
  }
}

const { HOME, ...gitVariables } = placeVariables

/** In the state directory: has the sockets of `socketsOf`. */
export const networkDirectory = 'network'
const proxySocket = 'proxy'
const proxyInside = '/tmp/.network'
const proxyPort = 48_173

/** Java does not read the variables. */
const proxyOfJava = ['http', 'https']
  .map((scheme) => `-D${scheme}.proxyHost=127.0.0.1 -D${scheme}.proxyPort=${proxyPort}`)
  .join(' ')

/** Node reads them only when it is told to. */
const proxyVariables = {
  ...Object.fromEntries(
    ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'].map((name) => [
      name,
      `http://127.0.0.1:${proxyPort}`,
    ]),
  ),
  ...Object.fromEntries(['no_proxy', 'NO_PROXY'].map((name) => [name, 'localhost,127.0.0.1,::1'])),
  NODE_USE_ENV_PROXY: '1',
  GRADLE_OPTS: proxyOfJava,
  MAVEN_OPTS: `${proxyOfJava} -Daether.connector.http.useSystemProperties=true`,
}

/** What processes send to a port of their own loopback goes to a socket outside, by its name in the directory for the network. */
export function socketsOf({ network, ports = [] }: SandboxRequest) {
  return [
    ...(network === 'allow' ? [{ name: proxySocket, port: proxyPort, isProxy: true }] : []),
    ...(network === 'host' ? [] : ports.map((port) => ({ name: String(port), port, isProxy: false }))),
  ]
}

const forwarder = textBeside(import.meta.url, './forwarder.pl')

const imagePath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const tmpBytesMax = 2 * 1024 ** 3

function copied(place: SandboxPlace, copy: string): SandboxPlace {
  return { ...place, sources: [copy], writes: place.writes === 'refused' ? 'refused' : 'through' }
}

function overlayAt(place: LaidPlace, directory: string): Overlay {
  for (const name of ['lower', 'merged']) makeDirectories(join(directory, name))
  return { directory, options: `${overlayOptions(place, 'lower', '')},index=off` }
}

/** The mount points that every root directory has. */
function isFixed(target: string): boolean {
  return /^\/(?:workspace|artifacts|tmp)(?:\/|$)/.test(target)
}

/**
 * A separate /etc: files that programs need, nothing about the users of this machine, and name resolution only with the
 * network. Files are copied, because every mount takes time, and shared by all sandboxes as long as they do not change.
 */
function etcMounts(shared: string, network: SandboxNetwork): readonly WantedMount[] {
  const copied = files.filter((name) => isFile(`/etc/${name}`))
  const shown = directories.filter((name) => isDirectory(`/etc/${name}`))
  const names = network === 'host' && isFile('/etc/resolv.conf') ? ['resolv.conf'] : []
  const key = sha256(
    JSON.stringify([copied.map((name) => [name, fileStamp(`/etc/${name}`)]), shown, names, made]),
  )
  const etc = join(shared, `etc-${key.slice(0, 32)}`)
  if (!isDirectory(etc)) {
    const draft = `${etc}.${randomSuffix(8)}`
    for (const [name, text] of Object.entries(made)) writeFileAtomic(join(draft, name), text)
    for (const name of copied) copyFileInto(`/etc/${name}`, draft, name)
    for (const name of shown) makeDirectories(join(draft, name))
    for (const name of names) writeFileAtomic(join(draft, name), '')
    settle(draft, etc)
  }
  const from = (name: string): WantedMount => ({
    ...{ writable: false, source: `/etc/${name}`, targets: [`/etc/${name}`], owner: null, isPublic: true },
  })
  return [
    { writable: false, source: etc, targets: ['/etc'], owner: fileOwner(etc) },
    ...[...shown, ...names].map(from),
  ]
}

/** Of several processes that create the same directory one wins, and the others use its result. */
function settle(draft: string, place: string): void {
  try {
    moveIfExists(draft, place)
  } catch (cause) {
    if (!isDirectory(place)) throw cause
    removeTree(draft)
  }
}

const made = {
  passwd: `root:x:0:0:root:/:/bin/sh\nstep:x:${stepUser}:${stepUser}::${placeVariables.HOME}:/bin/sh\n`,
  group: `root:x:0:\nstep:x:${stepUser}:\n`,
  hosts,
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
}

const files =
  'ld.so.cache ld.so.conf localtime mime.types ssl/openssl.cnf crypto-policies/config maven/m2.conf'.split(
    ' ',
  )

const directories =
  'alternatives ssl/certs pki/tls/certs pki/ca-trust/extracted fonts java-11-openjdk java-17-openjdk java-21-openjdk maven/logging php php.d'.split(
    ' ',
  )
