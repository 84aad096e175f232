import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GateResult } from '../core/trial.ts'
import type { GateContext } from './contract.ts'
import { gateSchema, runGate } from './index.ts'

/** A workspace in a temporary directory, in which gates are checked as a scenario writes them. */
export interface GateTrial extends Disposable {
  readonly workspace: string
  check(spec: Readonly<Record<string, unknown>>, context?: Partial<GateContext>): Promise<GateResult>
}

export function gateTrial(): GateTrial {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-gate-')))
  return {
    workspace,
    check: (spec, context) =>
      runGate(gateSchema.parse(spec), {
        workspace,
        env: { PATH: process.env.PATH ?? '', HOME: workspace },
        signal: new AbortController().signal,
        invocations: [],
        toolUses: [],
        delta: async () => ({ created: [], changed: [], deleted: [] }),
        ...context,
      }),
    [Symbol.dispose]: () => rmSync(workspace, { recursive: true, force: true }),
  }
}
