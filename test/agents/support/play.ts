import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { AgentDriver, AgentOutcome } from '../../../src/agents/contract.ts'
import type { AgentEvent, Untimed } from '../../../src/core/event.ts'
import { hermeticEnv } from '../../../src/io/hermetic-env.ts'
import type {
  Boundary,
  IncomingCall,
  Responder,
  SessionReport,
} from '../../../src/models/boundary/contract.ts'
import { createFaultPlan, parseFault } from '../../../src/models/boundary/faults.ts'
import { openBoundary } from '../../../src/models/boundary/open-boundary.ts'
import { createScriptResponder } from '../../../src/models/boundary/script/responder.ts'
import { boundaryScriptSchema } from '../../../src/models/boundary/script/schema.ts'
import { createBudget } from '../../../src/models/budget.ts'
import type { PriceTable } from '../../../src/models/price-table.ts'
import { isAlive } from '../../support/is-alive.ts'

export interface PlayOptions {
  readonly prompt?: string
  readonly files?: Readonly<Record<string, string>>
  readonly model?: string
  readonly timeoutMs?: number
  readonly maxTurns?: number
  readonly maxCostUsd?: number
  /** Cap of the boundary's own meter. */
  readonly meterCapUsd?: number
  readonly prices?: PriceTable
  readonly faults?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Called while the agent works; may cancel it. */
  readonly during?: (stage: {
    readonly workspace: string
    cancel(): void
    readonly calls: readonly IncomingCall[]
  }) => Promise<void>
}

export interface Played {
  readonly outcome: AgentOutcome
  readonly events: readonly Untimed<AgentEvent>[]
  readonly transcript: string
  /** What the agent asked its model, in order; calls that a fault or the budget refused are not among them. */
  readonly calls: readonly IncomingCall[]
  readonly report: SessionReport
  readonly workspace: string
  read(path: string): string
  exists(path: string): boolean
  /** Whether the process whose pid is in this file of the workspace still runs. */
  alive(path: string): boolean
}

/** One boundary and one scratch directory for a file of tests. */
export interface Stage {
  play(driver: AgentDriver, script: object, options?: PlayOptions): Promise<Played>
  close(): Promise<void>
}

export async function openStage(): Promise<Stage> {
  const boundary = await openBoundary({})
  const root = mkdtempSync(join(tmpdir(), 'gantry-agents-'))
  return {
    play: (driver, script, options = {}) => play(boundary, root, driver, script, options),
    close: async () => {
      await boundary.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

async function play(
  boundary: Boundary,
  root: string,
  driver: AgentDriver,
  script: object,
  options: PlayOptions,
): Promise<Played> {
  const dir = mkdtempSync(join(root, 'trial-'))
  const places = { workspace: join(dir, 'workspace'), home: join(dir, 'home'), tmp: join(dir, 'tmp') }
  for (const place of Object.values(places)) mkdirSync(place)
  for (const [path, content] of Object.entries(options.files ?? {})) {
    mkdirSync(join(places.workspace, path, '..'), { recursive: true })
    writeFileSync(join(places.workspace, path), content)
  }
  const calls: IncomingCall[] = []
  const cancel = new AbortController()
  const session = boundary.open({
    responder: watched(createScriptResponder(boundaryScriptSchema.parse(script), places), calls),
    ...(options.faults !== undefined && {
      faults: createFaultPlan({ faults: options.faults.map(parseFault), seed: 1 }),
    }),
    ...(options.meterCapUsd !== undefined && { budget: createBudget(options.meterCapUsd) }),
    ...(options.prices !== undefined && { prices: options.prices }),
  })
  const events: Untimed<AgentEvent>[] = []
  const chunks: Uint8Array[] = []
  const running = driver.run({
    prompt: options.prompt ?? 'Do it.',
    workspace: places.workspace,
    model: options.model ?? 'default',
    env: {
      ...hermeticEnv({ host: process.env, home: places.home, tmp: places.tmp }),
      ...options.env,
    },
    timeoutMs: options.timeoutMs ?? 110_000,
    ...(options.maxTurns !== undefined && { maxTurns: options.maxTurns }),
    ...(options.maxCostUsd !== undefined && { maxCostUsd: options.maxCostUsd }),
    endpoint: session.endpoint,
    signal: AbortSignal.any([cancel.signal, session.stopped]),
    emit: (event) => events.push(event),
    transcript: (chunk) => chunks.push(chunk.slice()),
  })
  const [outcome] = await Promise.all([
    running,
    options.during?.({ workspace: places.workspace, cancel: () => cancel.abort(), calls }),
  ])
  await session.close()
  keepsItsPromises(events, outcome)
  return {
    outcome,
    events,
    transcript: Buffer.concat(chunks).toString('utf8'),
    calls,
    report: session.report(),
    workspace: places.workspace,
    read: (path) => readFileSync(join(places.workspace, path), 'utf8'),
    exists: (path) => existsSync(join(places.workspace, path)),
    alive: (path) => isAlive(Number(readFileSync(join(places.workspace, path), 'utf8'))),
  }
}

function watched(responder: Responder, calls: IncomingCall[]): Responder {
  return {
    ...responder,
    answer: (incoming) => {
      calls.push(incoming)
      return responder.answer(incoming)
    },
  }
}

/** Holds for every run, however it ends. */
function keepsItsPromises(events: readonly Untimed<AgentEvent>[], outcome: AgentOutcome): void {
  expect(events[0]?.event).toBe('spawn')
  expect(events.filter(({ event }) => event === 'spawn').length).toBe(1)
  expect(events.filter(({ event }) => event === 'complete').length).toBe(1)
  expect(events.at(-1)).toMatchObject({
    event: 'complete',
    ending: outcome.ending,
    exit_code: outcome.exitCode,
  })
}
