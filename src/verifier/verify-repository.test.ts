import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../store/open-store.ts'
import { findVerification } from './find-verification.ts'
import { verifyRepository } from './verify-repository.ts'

test('the reason why no sandbox can be used is redacted', async () => {
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
      sandbox: 'auto',
      store: openStore({ env, cwd: dir, root: join(dir, 'store') }),
      env,
      signal: new AbortController().signal,
      argv: [],
      redact: ['No sandbox[a-z ]+'],
    })
    expect(response).toMatchObject({ status: 'INFRA_ERROR', run_id: null, error_type: 'docker_unavailable' })
    expect(JSON.stringify(response)).not.toContain('No sandbox')
    expect(JSON.stringify(response)).toContain('--sandbox host')
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
