import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SandboxEngine } from '../sandboxes/contract.ts'
import { openStore } from '../store/open-store.ts'
import type { VerifierResponse } from './contract.ts'
import { findVerification } from './find-verification.ts'
import { type RepositoryRequest, verifyRepository } from './verify-repository.ts'

test('the reason why no sandbox can be used is redacted', async () => {
  const response = await verifyWith('auto', { redact: ['No sandbox[a-z ]+'] })
  expect(response).toMatchObject({ status: 'INFRA_ERROR', run_id: null, error_type: 'docker_unavailable' })
  expect(JSON.stringify(response)).not.toContain('No sandbox')
  expect(JSON.stringify(response)).toContain('--sandbox host')
})

test('leftovers are removed while a slow sandbox opens', async () => {
  const swept = Promise.withResolvers<readonly string[]>()
  const failure = { type: 'unknown', message: 'It was only slow.' } as const
  const slow: SandboxEngine = {
    name: 'docker',
    probe: async () => ({ engine: 'docker', usable: true, detail: 'always' }),
    open: () => swept.promise.then(() => ({ kind: 'failed', failure })),
    sweep: async () => {
      swept.resolve([])
      return []
    },
  }
  expect(await verifyWith(slow)).toMatchObject({ run_id: null, error_message: failure.message })
})

async function verifyWith(
  sandbox: RepositoryRequest['sandbox'],
  more: Pick<RepositoryRequest, 'redact'> = {},
): Promise<VerifierResponse> {
  const dir = mkdtempSync(join(tmpdir(), 'gantry-verify-'))
  try {
    const steps = [{ name: 'test', command: 'true' }]
    writeFileSync(
      join(dir, 'agent.yaml'),
      JSON.stringify({ verification: { container_image: 'none', steps } }),
    )
    const env = { PATH: join(dir, 'empty'), HOME: dir, DOCKER_HOST: `unix://${dir}/no-such.sock` }
    const { response } = await verifyRepository({
      ...findVerification(dir),
      ...{ sandbox, env, argv: [], ...more },
      store: openStore({ env, cwd: dir, root: join(dir, 'store') }),
      signal: new AbortController().signal,
    })
    return response
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
