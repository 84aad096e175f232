import { join } from 'node:path'
import { fileStamp, readTextIfExists } from '../../io/directory.ts'
import { exec } from '../../io/exec.ts'
import { deviceOf, ownUser } from '../../io/file-owner.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { findProgram } from '../../io/find-program.ts'
import { describeHost, platform } from '../../io/host.ts'
import { removeTree } from '../../io/remove-tree.ts'
import { sha256 } from '../../io/sha256.ts'
import type { EngineContext, EngineProbe, SandboxRequest } from '../contract.ts'
import { discardStale, type SandboxState } from '../state.ts'
import { hasSeccompFilter } from './seccomp/filter.ts'

/** Being installed is not enough: the kernel must allow namespaces, so one is created. */
export async function probeBubblewrap({ env, signal }: EngineContext): Promise<EngineProbe> {
  const engine = 'bubblewrap'
  const found = findBubblewrap(env)
  if (found.kind === 'missing') return { engine, usable: false, detail: found.detail, ...found.fix }
  const run = (...args: readonly string[]) =>
    exec({
      argv: [found.bwrap, ...args],
      cwd: '/',
      env,
      timeoutMs: 30_000,
      maxOutputBytes: 4_096,
      ...(signal !== undefined && { signal }),
    })
  const [tried, version] = await Promise.all([
    run('--ro-bind', '/', '/', '--unshare-all', '--unshare-user', '--die-with-parent', 'true'),
    run('--version'),
  ])
  if (tried.exitCode === 0) return { engine, usable: true, detail: versionIn(version.stdout.text) }
  return {
    engine,
    usable: false,
    detail: `it cannot create a namespace here: ${(tried.error ?? tried.stderr.text).trim().split('\n')[0] ?? ''}`,
    fix: 'sudo sysctl kernel.unprivileged_userns_clone=1',
  }
}

export type FoundBubblewrap =
  | { readonly kind: 'found'; readonly bwrap: string; readonly perl: string }
  | { readonly kind: 'missing'; readonly detail: string; readonly fix?: { readonly fix: string } }

/** The required programs, by their absolute paths. */
export function findBubblewrap(env: Readonly<Record<string, string>>): FoundBubblewrap {
  const path = env.PATH ?? ''
  const { arch } = describeHost()
  const missing = (detail: string, fix?: string): FoundBubblewrap => ({
    kind: 'missing',
    detail,
    ...(fix !== undefined && { fix: { fix } }),
  })
  if (platform !== 'linux') return missing(`it needs Linux, this is ${platform}`)
  if (!hasSeccompFilter(arch)) return missing(`the processor ${arch} is not supported`)
  const bwrap = findProgram('bwrap', path)
  if (bwrap === null) return missing('bwrap is not on the PATH', 'sudo apt-get install bubblewrap')
  const perl = findProgram('perl', systemPath) ?? findProgram('perl', path)
  if (perl === null) return missing('perl, which starts it, is not on the PATH', 'sudo apt-get install perl')
  return { kind: 'found', bwrap, perl }
}

/** The system's own first: one in a home directory is a script that needs more than a clean environment. */
const systemPath = '/usr/bin:/bin:/usr/local/bin'

export function versionIn(text: string): string {
  return /bubblewrap (\S+)/.exec(text)?.[1] ?? 'version unknown'
}

/** Records that such a sandbox worked on this machine since it was booted, so that it is not tried again. */
export interface Proof {
  /** The engine's version at that time; null when it was never tried. */
  version(): string | null
  remember(version: string): void
  /** Removes the record. */
  forget(): void
}

/** The name of the record contains everything that decides whether a sandbox can be created. */
export function proofFor(
  request: SandboxRequest,
  programs: { readonly bwrap: string; readonly perl: string },
  state: SandboxState,
): Proof {
  const { image, workspace, network, caches, env, repository, artifacts, keep, layers = [] } = request
  const places = [state.directory, repository, artifacts, ...caches.map(({ source }) => source)]
  const facts = [
    ownUser(),
    ...[programs.bwrap, programs.perl].map((program) => [program, fileStamp(program)]),
    ...[image, workspace, network, env.PATH, env.HOME, keep !== undefined, layers.length],
    ...caches.map(({ target, writes }) => [target, writes]),
    places.map(deviceOf),
  ]
  const file = join(state.shared, `proven-${sha256(JSON.stringify(facts)).slice(0, 32)}`)
  return {
    version: () => readTextIfExists(file),
    remember: (version) => {
      writeFileAtomic(file, version)
      discardStale(state.shared)
    },
    forget: () => removeTree(file),
  }
}
