import { asString, type JsonObject } from '../../../core/json-fields.ts'
import { quickRandom } from '../../../io/quick-random.ts'
import { type BackgroundAgents, createBackgroundAgents } from '../background-agents.ts'

/** Knows by the lines Claude Code prints which message of ours it works on, and when it is done with it. */
export interface Exchanges {
  /** A message that is about to be sent. One at a time. */
  begin(uuid: string): PendingMessage
  see(line: JsonObject): void
  /** Whether a message of ours is being worked on. */
  isAsked(): boolean
  /** Settles when no turn is under way that no message of ours began, such as at the end of something in the background. */
  idle(): Promise<void>
  isIdle(): boolean
  /** After an interruption no turn follows: a message that has its result, and waited for others only, is over with them. */
  expectNoMore(): void
  readonly tasks: BackgroundAgents['tasks']
}

export interface PendingMessage {
  /** The `result` that ends it. */
  readonly done: Promise<JsonObject>
  /** Whatever became of it: the next one may begin. */
  end(): void
}

interface Turn {
  readonly uuid: string | null
  readonly resolve: (result: JsonObject) => void
  readonly done: Promise<JsonObject>
  /** Newer versions say when they begin with a message; results before that are not its own. */
  isBegun: boolean
  /** Since its last turn began; more may follow while subagents work in the background. */
  result: JsonObject | null
}

export function createExchanges(): Exchanges {
  const background = createBackgroundAgents()
  let current: Turn | null = null
  let stray: Turn | null = null
  let wasAsked = false
  let isInterrupted = false

  const settle = (): void => {
    if (background.isBusy()) return
    // At once: the next line may come in the same breath, and is not part of it.
    if (current?.result) {
      current.resolve(current.result)
      current = null
    }
    if (stray?.result) {
      stray.resolve(stray.result)
      stray = null
    }
  }
  const turns = (): readonly Turn[] => [current, stray].filter((turn) => turn !== null)

  return {
    begin(uuid) {
      if (current !== null) throw new Error('a session answers one prompt at a time')
      wasAsked = true
      isInterrupted = false
      const turn = newTurn(uuid)
      current = turn
      return {
        done: turn.done,
        end() {
          if (current === turn) current = null
        },
      }
    },
    see(line) {
      background.see(line)
      if (isInterrupted) settle()
      if (line.type === 'system' && line.subtype === 'init') {
        // Before anything was asked it may introduce itself without beginning a turn.
        if (current === null && wasAsked) stray ??= newTurn(null)
        for (const turn of turns()) turn.result = null
      } else if (line.type === 'command_lifecycle') {
        const [turn] = turns().filter(({ uuid }) => uuid === asString(line.command_uuid))
        if (turn !== undefined) turn.isBegun = line.state !== 'queued'
      } else if (line.type === 'result') {
        for (const turn of turns()) if (turn.isBegun) turn.result = line
        settle()
      }
    },
    isAsked: () => current !== null,
    async idle() {
      await stray?.done
    },
    isIdle: () => stray === null,
    expectNoMore() {
      isInterrupted = true
      settle()
    },
    tasks: background.tasks,
  }
}

function newTurn(uuid: string | null): Turn {
  const { promise: done, resolve } = Promise.withResolvers<JsonObject>()
  return { uuid, done, resolve, isBegun: true, result: null }
}

/** A random UUID, by which Claude Code knows a message. */
export function newMessageId(): string {
  const bytes = quickRandom(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
