import { asString, type JsonObject } from '../../../core/json-fields.ts'
import { createBackgroundAgents } from '../background-agents.ts'

interface Turn {
  readonly uuid: string | null
  readonly resolve: (result: JsonObject) => void
  readonly done: Promise<JsonObject>
  /** Newer versions report when they start a message; earlier results do not belong to it. */
  isBegun: boolean
  /** Since its last turn started; more may follow while background subagents run. */
  result: JsonObject | null
}

/** Determines from Claude Code's output which of our messages it works on, and when it is done. */
export function createExchanges() {
  const background = createBackgroundAgents()
  let current: Turn | null = null
  let stray: Turn | null = null
  let wasAsked = false
  let isInterrupted = false

  const settle = (): void => {
    if (background.isBusy()) return
    // At once: the next line may arrive at the same moment, and is not part of it.
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
    /** Registers a message that is about to be sent. One at a time. */
    begin(uuid: string) {
      if (current !== null) throw new Error('a session answers one prompt at a time')
      wasAsked = true
      isInterrupted = false
      const turn = newTurn(uuid)
      current = turn
      return {
        done: turn.done,
        /** Ends it in any state: the next one may start. */
        end() {
          if (current === turn) current = null
        },
      }
    },
    see(line: JsonObject): void {
      background.see(line)
      if (isInterrupted) settle()
      if (line.type === 'system' && line.subtype === 'init') {
        // Before the first message it may send its init line without starting a turn.
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
    /** Whether one of our messages is being worked on. */
    isAsked: () => current !== null,
    /** Resolves when no turn is running that was not started by our messages, such as one after background work. */
    async idle(): Promise<void> {
      await stray?.done
    },
    isIdle: () => stray === null,
    /** After an interruption no turn follows: a message that has its result and only waited for background work is done. */
    expectNoMore(): void {
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
