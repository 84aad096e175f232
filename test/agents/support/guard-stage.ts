import { copyFileSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findAgent } from '../../../scripts/agent-cache.ts'
import type { HookedAgent } from '../../../src/agents/hook-codecs.ts'
import type { ProofStage } from '../../../src/guard/prove/contract.ts'
import { openStage } from '../../../src/guard/prove/stage.ts'
import type { HookProgram } from '../../../src/guard-install/hook-program.ts'
import { openBoundary } from '../../../src/models/boundary/open-boundary.ts'
import { hookProgram } from '../../support/program.ts'

export interface GuardStage extends ProofStage {
  /** Absolute, without links: gone when the stage is closed. */
  readonly scratch: string
  readonly program: HookProgram
  close(): Promise<void>
}

/** A pinned agent with the hook program as it is published, in one file, built from the current sources. */
export async function openGuardStage(
  id: string,
  agent: HookedAgent,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<GuardStage> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-guard-')))
  const hookBin = join(scratch, 'hook-bin.js')
  copyFileSync(hookProgram, hookBin)
  const program = { node: process.execPath, hookBin }
  const boundary = await openBoundary({})
  const stage = await openStage({
    agent,
    config: { binary: findAgent(id)?.program ?? 'not installed' },
    base: scratch,
    program,
    boundary,
    scratch,
    env,
    signal: new AbortController().signal,
  })
  return {
    ...stage,
    scratch,
    program,
    close: async () => {
      await boundary.close()
      // A helper that waits for further hooks goes when its program is gone.
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}
