import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findAgent } from '../../../scripts/agent-cache.ts'
import type { LoadedParts } from '../../../src/agents/contract.ts'
import { agentSchema, createAgent } from '../../../src/agents/index.ts'
import { hermeticEnv } from '../../../src/io/hermetic-env.ts'
import { openBoundary } from '../../../src/models/boundary/open-boundary.ts'
import { createScriptResponder } from '../../../src/models/boundary/script/responder.ts'
import { boundaryScriptSchema } from '../../../src/models/boundary/script/schema.ts'

/** What Claude Code says it has loaded when it is started with these plugins. Its model is never asked. */
export async function loadPlugins(id: string, plugins: readonly string[]): Promise<LoadedParts> {
  const root = mkdtempSync(join(tmpdir(), 'gantry-load-'))
  const places = { home: join(root, 'home'), tmp: join(root, 'tmp'), workspace: join(root, 'workspace') }
  for (const place of Object.values(places)) mkdirSync(place)
  const config = agentSchema.parse({
    driver: 'claude-code',
    binary: findAgent(id)?.program,
    plugins: [...plugins],
  })
  const { openSession } = createAgent('real', config, { base: '/' })
  if (openSession === undefined) throw new Error('it has no sessions')
  const boundary = await openBoundary({})
  const script = boundaryScriptSchema.parse({ turns: [{ text: 'Nobody should ask.' }] })
  const model = boundary.open({ responder: createScriptResponder(script, places) })
  const session = await openSession({
    workspace: places.workspace,
    model: 'default',
    // A server that is started with npx must look neither for its package nor for a newer npm.
    env: {
      ...hermeticEnv({ host: process.env, ...places }),
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    },
    endpoint: model.endpoint,
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    emit: () => {},
    transcript: () => {},
  })
  try {
    const loaded = await session.loaded?.()
    if (loaded == null) throw new Error('it reported nothing')
    if (model.report().exchanges > 0) throw new Error('its model was asked')
    return loaded
  } finally {
    await session.close()
    await boundary.close()
    rmSync(root, { recursive: true, force: true })
  }
}
