import { once } from 'node:events'
import { endpointVariables, type IncomingCall } from '../../../src/models/boundary/contract.ts'
import { openBoundary } from '../../../src/models/boundary/open-boundary.ts'
import { createScriptResponder } from '../../../src/models/boundary/script/responder.ts'
import { boundaryScriptSchema } from '../../../src/models/boundary/script/schema.ts'

/** A provider of our own that remembers which answers it gave: each is paid for. */
export interface CountedModel {
  /** By these a program finds it in place of Anthropic. */
  readonly env: Readonly<Record<string, string>>
  /** What was asked and answered, in order, in the words of `nameOf`. */
  readonly answered: readonly string[]
  /** What was asked and is kept waiting. */
  readonly held: readonly string[]
  /** From now on a matching call is never answered. */
  hold(isHeld: (name: string) => boolean): void
  close(): Promise<void>
}

export async function openCountedModel(
  script: object,
  nameOf: (incoming: IncomingCall) => string,
): Promise<CountedModel> {
  const responder = createScriptResponder(boundaryScriptSchema.parse(script), {})
  const boundary = await openBoundary({})
  const answered: string[] = []
  const held: string[] = []
  let isHeld = (_name: string): boolean => false
  const { endpoint } = boundary.open({
    responder: {
      name: 'counted',
      answer: async (incoming) => {
        const name = nameOf(incoming)
        if (isHeld(name)) {
          held.push(name)
          if (!incoming.signal.aborted) await once(incoming.signal, 'abort')
          return { kind: 'failure', failure: { status: 500, message: 'nobody is there any more' } }
        }
        answered.push(name)
        return responder.answer(incoming)
      },
    },
  })
  return {
    env: endpointVariables(endpoint),
    answered,
    held,
    hold: (next) => {
      isHeld = next
    },
    close: () => boundary.close(),
  }
}
