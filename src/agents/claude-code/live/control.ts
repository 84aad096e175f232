import { asObject, asString, type JsonObject } from '../../../core/json-fields.ts'

/** What came back for a request of ours. */
export type ControlAnswer =
  | { readonly kind: 'success'; readonly response: JsonObject }
  | { readonly kind: 'refused'; readonly why: string }
  /** Within the time it was given, or before the program was gone. */
  | { readonly kind: 'silent' }

export interface Control {
  ask(request: JsonObject, waitMs: number): Promise<ControlAnswer>
  /** Whether the line belongs here and not to the conversation. */
  take(line: JsonObject): boolean
  /** Nobody will answer any more. */
  close(): void
}

/** Answers a request of Claude Code; a rejection is passed on as its failure. */
export type ControlAnswerer = (request: JsonObject) => Promise<JsonObject>

/** Requests and responses in both directions, on the same lines as the conversation itself. */
export function createControl(send: (line: JsonObject) => void, answer: ControlAnswerer): Control {
  const waiting = new Map<string, (answer: ControlAnswer) => void>()
  let count = 0
  let isClosed = false

  const reply = async (line: JsonObject): Promise<void> => {
    const { request_id } = line
    const response = await answer(asObject(line.request) ?? {}).then(
      (said): JsonObject => ({ subtype: 'success', request_id, response: said }),
      (cause: unknown): JsonObject => ({ subtype: 'error', request_id, error: String(cause) }),
    )
    send({ type: 'control_response', response })
  }

  return {
    async ask(request, waitMs) {
      if (isClosed) return { kind: 'silent' }
      count += 1
      const request_id = `gantry-${count}`
      const { promise, resolve } = Promise.withResolvers<ControlAnswer>()
      const timer = setTimeout(resolve, Math.min(waitMs, 2 ** 31 - 1), { kind: 'silent' })
      waiting.set(request_id, resolve)
      send({ type: 'control_request', request_id, request })
      return promise.finally(() => {
        clearTimeout(timer)
        waiting.delete(request_id)
      })
    },
    take(line) {
      switch (line.type) {
        case 'control_response': {
          const response = asObject(line.response) ?? {}
          waiting.get(asString(response.request_id) ?? '')?.(answerOf(response))
          return true
        }
        case 'control_request':
          void reply(line)
          return true
        case 'control_cancel_request':
        case 'keep_alive':
          return true
        default:
          return false
      }
    },
    close() {
      isClosed = true
      for (const resolve of waiting.values()) resolve({ kind: 'silent' })
    },
  }
}

function answerOf(response: JsonObject): ControlAnswer {
  if (response.subtype === 'success') return { kind: 'success', response: asObject(response.response) ?? {} }
  return { kind: 'refused', why: asString(response.error) ?? 'it gave no reason' }
}
