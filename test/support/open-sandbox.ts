import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../../src/io/temporary-directory.ts'
import type {
  Sandbox,
  SandboxEngine,
  SandboxRequest,
  SandboxStep,
  SandboxStepEnd,
} from '../../src/sandboxes/contract.ts'

export interface OpenedSandbox {
  readonly sandbox: Sandbox
  readonly repository: string
  readonly artifacts: string
  /** Holds both of them. */
  readonly scratch: string
}

type Wanted = Partial<SandboxRequest> & Pick<SandboxRequest, 'image' | 'env'>

/** For a small repository that only its owner can enter. Everything is gone when the test has ended. */
export function sandboxRequest(wanted: Wanted): SandboxRequest {
  const scratch = temporaryDirectory('gantry-sandbox-')
  onTestFinished(() => scratch[Symbol.dispose]())
  const [repository, artifacts] = [join(scratch.path, 'repo'), join(scratch.path, 'artifacts')]
  mkdirSync(repository)
  mkdirSync(artifacts)
  writeFileSync(join(repository, 'README.md'), '# readme\n')
  chmodSync(repository, 0o700)
  return {
    runId: 'run_test',
    repository,
    artifacts,
    workspace: 'readonly',
    network: 'none',
    limits: { memoryBytes: 512 * 1024 * 1024, cpus: 2, pids: 128, diskBytes: 2 * 1024 ** 3 },
    caches: [],
    signal: new AbortController().signal,
    ...wanted,
  }
}

/** Closed when the test has ended, and nothing may be left then. */
export async function openSandbox(engine: SandboxEngine, wanted: Wanted): Promise<OpenedSandbox> {
  const request = sandboxRequest(wanted)
  const opening = await engine.open(request)
  if (opening.kind !== 'open') throw new Error(JSON.stringify(opening))
  onTestFinished(async () => expect(await opening.sandbox.close()).toEqual([]))
  const { repository, artifacts } = request
  return { sandbox: opening.sandbox, repository, artifacts, scratch: join(artifacts, '..') }
}

export async function runInSandbox(
  sandbox: Sandbox,
  command: string,
  rest: Partial<SandboxStep> = {},
): Promise<{ readonly end: SandboxStepEnd; readonly output: string }> {
  const chunks: Uint8Array[] = []
  const end = await sandbox.run({
    command,
    env: {},
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    output: (chunk) => chunks.push(Uint8Array.from(chunk)),
    ...rest,
  })
  return { end, output: Buffer.concat(chunks).toString('utf8') }
}
