import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { buildHook } from '../../../scripts/build-hook.ts'
import type { HookedAgent } from '../../../src/agents/hook-codecs.ts'
import type { ProofStage } from '../../../src/guard/prove/contract.ts'
import { openStage } from '../../../src/guard/prove/stage.ts'
import { openBoundary } from '../../../src/models/boundary/open-boundary.ts'

export interface GuardStage extends ProofStage {
  /** Absolute: gone when the stage is closed. */
  readonly scratch: string
  close(): Promise<void>
}

/** A pinned agent with the guard's program as it is published, in one file, built from the sources as they are. */
export async function openGuardStage(id: string, agent: HookedAgent): Promise<GuardStage> {
  const scratch = mkdtempSync(join(tmpdir(), 'gantry-guard-'))
  const hookBin = join(scratch, 'hook-bin.js')
  await buildHook(hookBin)
  const boundary = await openBoundary({})
  const stage = await openStage({
    agent,
    config: { binary: findAgent(id)?.program ?? 'not installed' },
    base: scratch,
    program: { node: process.execPath, hookBin },
    boundary,
    scratch,
    env: process.env,
    signal: new AbortController().signal,
  })
  return {
    ...stage,
    scratch,
    close: async () => {
      await boundary.close()
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}
