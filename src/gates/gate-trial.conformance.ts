import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GateResult } from '../core/trial.ts'
import type { GateContext } from './contract.ts'
import { gateSchema, runGate } from './index.ts'

/** A temporary workspace in which gates are checked as written in a scenario. */
export interface GateTrial extends Disposable {
  readonly workspace: string
  check(spec: Readonly<Record<string, unknown>>, context?: Partial<GateContext>): Promise<GateResult>
}

export function gateTrial(): GateTrial {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-gate-')))
  return {
    workspace,
    check: async (spec, context) =>
      (
        await runGate(gateSchema.parse(spec), {
          workspace,
          env: { PATH: process.env.PATH ?? '', HOME: workspace },
          signal: new AbortController().signal,
          invocations: [],
          invocationSource: 'none',
          toolUses: [],
          delta: async () => ({ created: [], changed: [], deleted: [] }),
          ...context,
        })
      ).result,
    [Symbol.dispose]: () => rmSync(workspace, { recursive: true, force: true }),
  }
}
