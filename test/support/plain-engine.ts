import { exec } from '../../src/io/exec.ts'
import type {
  SandboxEngine,
  SandboxFailure,
  SandboxReport,
  SandboxRequest,
  SandboxStepEnd,
} from '../../src/sandboxes/contract.ts'

export interface PlainEngine extends SandboxEngine {
  /** What was asked for, one per sandbox. */
  readonly requests: SandboxRequest[]
  /** Sandboxes that were opened and not closed. */
  open: SandboxEngine['open']
  alive(): number
}

export interface PlainBehaviour {
  readonly opening?: SandboxFailure | 'cancelled' | Error
  /** Ends the step with this number (from 1) in this way instead of running it. */
  readonly ends?: Readonly<Record<number, SandboxStepEnd>>
  readonly notRemoved?: readonly string[]
  readonly onOpen?: (request: SandboxRequest) => void
}

/**
 * An engine without isolation, for tests of code that uses the contract: `/workspace` is the repository itself, and
 * `/artifacts` is replaced in commands and variables.
 */
export function plainEngine(behaviour: PlainBehaviour = {}): PlainEngine {
  const requests: SandboxRequest[] = []
  let alive = 0
  return {
    name: 'host',
    requests,
    alive: () => alive,
    probe: async () => ({ engine: 'host', usable: true, detail: 'always' }),
    sweep: async () => [],
    open: async (request) => {
      requests.push(request)
      behaviour.onOpen?.(request)
      const { opening } = behaviour
      if (opening instanceof Error) throw opening
      if (opening === 'cancelled') return { kind: 'cancelled' }
      if (opening !== undefined) return { kind: 'failed', failure: opening }
      alive += 1
      let steps = 0
      let closed = false
      const inside = (text: string): string => text.replaceAll('/artifacts', request.artifacts)
      return {
        kind: 'open',
        sandbox: {
          report: reportOf(request),
          run: async ({ command, env, timeoutMs, output, signal }) => {
            steps += 1
            const forced = behaviour.ends?.[steps]
            if (forced !== undefined) return forced
            const variables = Object.entries(env).map(([name, value]) => [name, inside(value)])
            const result = await exec({
              argv: ['sh', '-c', inside(command)],
              cwd: request.repository,
              env: { PATH: process.env.PATH ?? '', ...Object.fromEntries(variables) },
              timeoutMs,
              maxOutputBytes: 1024,
              onStdout: output,
              onStderr: output,
              signal,
            })
            return endOf(result.ending, result.exitCode)
          },
          close: async () => {
            if (!closed) alive -= 1
            closed = true
            return behaviour.notRemoved ?? []
          },
        },
      }
    },
  }
}

function endOf(ending: string, exitCode: number | null): SandboxStepEnd {
  if (ending === 'timed_out') return { kind: 'timed_out' }
  if (ending === 'aborted') return { kind: 'cancelled' }
  return { kind: 'exited', exitCode: exitCode ?? 128 }
}

function reportOf({ network, workspace, limits }: SandboxRequest): SandboxReport {
  const not = (wanted: number) => ({ kind: 'not_applied', wanted, why: 'this engine has no limits' }) as const
  return {
    engine: 'host',
    engineVersion: null,
    image: 'none',
    sandboxed: false,
    user: '0:0',
    network,
    workspace,
    limits: {
      memoryBytes: not(limits.memoryBytes),
      cpus: not(limits.cpus),
      pids: not(limits.pids),
      diskBytes: not(limits.diskBytes),
    },
    shortfalls: [],
  }
}
