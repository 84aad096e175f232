import { asObject, asString, type JsonObject } from '../../../core/json-fields.ts'

export type ControlAnswer =
  | { readonly kind: 'success'; readonly response: JsonObject }
  | { readonly kind: 'refused'; readonly why: string }
  /** No answer within the time limit, or before the program ended. */
  | { readonly kind: 'silent' }

/**
 * Requests and responses in both directions, on the same lines as the conversation itself. `answer` answers a request of Claude Code; a
 * rejection is sent as an error.
 */
export function createControl(
  send: (line: JsonObject) => void,
  answer: (request: JsonObject) => Promise<JsonObject>,
) {
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
    async ask(request: JsonObject, waitMs: number): Promise<ControlAnswer> {
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
    /** Whether the line is part of the control protocol and not of the conversation. */
    take(line: JsonObject): boolean {
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
    /** Called when no answer can come any more. */
    close(): void {
      isClosed = true
      for (const resolve of waiting.values()) resolve({ kind: 'silent' })
    },
  }
}

function answerOf(response: JsonObject): ControlAnswer {
  if (response.subtype === 'success') return { kind: 'success', response: asObject(response.response) ?? {} }
  return { kind: 'refused', why: asString(response.error) ?? 'it gave no reason' }
}
