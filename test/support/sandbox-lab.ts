import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  Sandbox,
  SandboxEngine,
  SandboxLimits,
  SandboxRequest,
  SandboxStep,
  SandboxStepEnd,
} from '../../src/sandboxes/contract.ts'

/** How an engine is used in a test. */
export interface LabOptions {
  /** As in `verification.container_image`; has `sh` and the usual small programs. */
  readonly image: string
  /** Of the caller, beside what the lab sets: PATH, HOME and the directory for caches. */
  readonly env: Readonly<Record<string, string>>
}

/** A directory with a repository, a run directory and a secret, and an engine to open sandboxes with. */
export interface SandboxLab extends AsyncDisposable {
  readonly directory: string
  readonly repository: string
  readonly artifacts: string
  /** A file of the host that no step may see. */
  readonly secret: string
  readonly env: Readonly<Record<string, string>>
  request(changes?: Partial<SandboxRequest>): SandboxRequest
  /** Fails the test when it cannot be opened; closed with the lab. */
  open(changes?: Partial<SandboxRequest>): Promise<Sandbox>
}

export const plentiful: SandboxLimits = {
  memoryBytes: 1024 ** 3,
  cpus: 2,
  pids: 200,
  diskBytes: 2 * 1024 ** 3,
}

let labs = 0

/** `name` of the repository's directory, for those that are hard to mount. */
export function sandboxLab(
  engine: SandboxEngine,
  { image, env }: LabOptions,
  name = 'repository',
): SandboxLab {
  const directory = mkdtempSync(join(tmpdir(), 'gantry-sandbox-lab-'))
  const [repository, artifacts, home] = [
    join(directory, name),
    join(directory, 'artifacts'),
    join(directory, 'home'),
  ]
  for (const path of [repository, artifacts, home]) mkdirSync(path)
  spawnSync('git', ['init', '-q'], { cwd: repository })
  const secret = join(directory, 'secret.txt')
  writeFileSync(secret, 'hidden-on-the-host\n')
  writeFileSync(join(repository, 'sentinel.txt'), 'untouched\n')
  writeFileSync(join(repository, 'private.txt'), 'for the owner\n', { mode: 0o600 })
  mkdirSync(join(repository, 'deep/er'), { recursive: true })
  writeFileSync(join(repository, 'deep/er/file'), 'deep\n')
  symlinkSync(secret, join(repository, 'link-out'))
  const opened: Sandbox[] = []
  labs += 1
  const runId = `run_20260101_000000_l${process.pid}x${labs}`
  const whole = {
    HOME: home,
    XDG_CACHE_HOME: join(directory, 'cache'),
    SECRET_OF_THE_CALLER: 'hidden-on-the-host',
    ...env,
  }
  const request = (changes: Partial<SandboxRequest> = {}): SandboxRequest => ({
    ...{
      runId,
      image,
      repository,
      artifacts,
      workspace: 'readonly',
      network: 'none',
      limits: plentiful,
      caches: [],
    },
    env: whole,
    signal: new AbortController().signal,
    ...changes,
  })
  return {
    ...{ directory, repository, artifacts, secret, env: whole, request },
    open: async (changes) => {
      const opening = await engine.open(request(changes))
      if (opening.kind !== 'open') throw new Error(`not opened: ${JSON.stringify(opening)}`)
      opened.push(opening.sandbox)
      return opening.sandbox
    },
    [Symbol.asyncDispose]: async () => {
      for (const sandbox of opened) await sandbox.close()
      spawnSync('chmod', ['-R', 'u+rwx', directory])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export interface RanStep {
  readonly end: SandboxStepEnd
  readonly output: string
}

/** Keeps the beginning of what was printed. */
export async function runIn(
  sandbox: Sandbox,
  command: string,
  changes: Partial<SandboxStep> = {},
): Promise<RanStep> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const end = await sandbox.run({
    command,
    env: {},
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    output: (chunk) => {
      bytes += chunk.length
      if (bytes < 1_000_000) chunks.push(Buffer.from(chunk))
    },
    ...changes,
  })
  return { end, output: Buffer.concat(chunks).toString('utf8') }
}

/** Pids of every process on this machine whose command line contains the text. */
export function processesWith(text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text)
      } catch {
        return false
      }
    })
}
