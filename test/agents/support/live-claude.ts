import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findAgent } from '../../../scripts/agent-cache.ts'
import type { AgentSession, SeenHook, SessionRequest } from '../../../src/agents/contract.ts'
import { agentSchema, createAgent } from '../../../src/agents/index.ts'
import type { AgentEvent, Untimed } from '../../../src/core/event.ts'
import { hermeticEnv } from '../../../src/io/hermetic-env.ts'
import type { Block, IncomingCall, ModelCall, Responder } from '../../../src/models/boundary/contract.ts'
import { openBoundary } from '../../../src/models/boundary/open-boundary.ts'

/** A live session of real Claude Code, with all it did and asked. */
export interface LiveClaude {
  readonly session: Required<AgentSession>
  readonly events: Untimed<AgentEvent>[]
  readonly hooks: SeenHook[]
  /** What it asked its model, in order. */
  readonly calls: ModelCall[]
  readonly workspace: string
  readonly pid: number
  transcript(): string
  read(path: string): string
  exists(path: string): boolean
}

export interface LiveStage {
  open(options?: LiveOptions): Promise<LiveClaude>
  close(): Promise<void>
}

export interface LiveOptions {
  readonly config?: object
  readonly request?: Partial<SessionRequest>
  readonly files?: Readonly<Record<string, string>>
}

/** `id` as in `pinned-agents.ts`. */
export async function openLiveStage(id: string): Promise<LiveStage> {
  const boundary = await openBoundary({})
  const root = mkdtempSync(join(tmpdir(), 'gantry-live-'))
  const ends: (() => Promise<void>)[] = []
  return {
    async open({ config = {}, request = {}, files = {} } = {}) {
      const dir = mkdtempSync(join(root, 'trial-'))
      const [workspace, home, tmp] = [join(dir, 'workspace'), join(dir, 'home'), join(dir, 'tmp')]
      for (const place of [workspace, home, tmp]) mkdirSync(place)
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(dir, path)), { recursive: true })
        writeFileSync(join(dir, path), content)
      }
      const calls: ModelCall[] = []
      const events: Untimed<AgentEvent>[] = []
      const hooks: SeenHook[] = []
      const chunks: Uint8Array[] = []
      const line = boundary.open({ responder: obedient(calls) })
      const installed = findAgent(id)
      const driver = createAgent(
        'live',
        agentSchema.parse({ driver: 'claude-code', binary: installed?.program ?? './missing', ...config }),
        { base: dir },
      )
      const session = (await driver.openSession?.({
        workspace,
        model: 'claude-sonnet-4-5',
        env: { ...hermeticEnv({ host: process.env, home, tmp }), CLAUDE_CODE_MAX_RETRIES: '1' },
        timeoutMs: 60_000,
        endpoint: line.endpoint,
        signal: new AbortController().signal,
        emit: (event) => events.push(event),
        transcript: (chunk) => chunks.push(chunk.slice()),
        onHook: (hook) => hooks.push(hook),
        ...request,
      })) as Required<AgentSession>
      ends.push(async () => {
        await session.close()
        await line.close()
      })
      const spawned = events.find((event) => event.event === 'spawn')
      return {
        session,
        events,
        hooks,
        calls,
        workspace,
        pid: spawned?.pid ?? 0,
        transcript: () => Buffer.concat(chunks).toString('utf8'),
        read: (path) => readFileSync(join(workspace, path), 'utf8'),
        exists: (path) => existsSync(join(workspace, path)),
      }
    },
    async close() {
      for (const end of ends) await end()
      await boundary.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** What a prompt has to say to make the model call tools, all at once. */
export function use(...calls: readonly (readonly [tool: string, input: object])[]): string {
  return `USE${JSON.stringify(calls)}`
}

/** Does what its last prompt says: calls tools, hangs, fails, calls without end, or says how often it was asked. */
function obedient(calls: ModelCall[]): Responder {
  return {
    name: 'script',
    async answer({ call, index, signal }: IncomingCall) {
      if (call.kind === 'turn') calls.push(call)
      const last = call.messages.findLast(({ role }) => role === 'user' || role === 'tool')
      const prompt = last?.text ?? ''
      const isBusy = (last?.toolResults.length ?? 0) > 0
      if (!isBusy && prompt.endsWith('HANG')) await untilGone(signal)
      if (!isBusy && prompt.endsWith('FAIL'))
        return { kind: 'failure', failure: { status: 401, message: 'invalid x-api-key' } }
      const wanted = isBusy ? null : /USE(\[.*\])/s.exec(prompt)?.[1]
      const isEndless = call.messages.some(({ text }) => text.endsWith('ENDLESS'))
      const blocks: Block[] = (
        isEndless ? [['Bash', { command: `echo ${index}` }]] : wanted ? JSON.parse(wanted) : []
      ).map(([name, input]: [string, object], number: number) => ({
        kind: 'tool_call',
        id: `toolu_${index}_${number}`,
        name,
        input,
      }))
      return {
        kind: 'turn',
        turn: {
          blocks: blocks.length > 0 ? blocks : [{ kind: 'text', text: `Answer ${calls.length}.` }],
          stop: blocks.length > 0 ? 'tools' : 'end',
          usage: { input: 100, output: 10, cacheRead: 0, cacheWrite: 0 },
        },
      }
    },
  }
}

function untilGone(signal: AbortSignal): Promise<void> {
  return new Promise((settle) => {
    signal.addEventListener('abort', () => settle())
    setTimeout(settle, 50_000).unref()
  })
}
