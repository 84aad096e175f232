import type { Model } from '../../../models/contract.ts'
import { type AskText, structured } from '../../../models/structured.ts'

/**
 * A model of which it is known when all that was asked of it so far has really been handed on: between a question and its
 * call lies a little work, and a flush in between would leave the call out.
 */
export function gatherCalls(model: Model): { readonly model: Model; gathered(): Promise<void> } {
  const onTheWay = new Set<Promise<void>>()
  const watched: Model['structured'] = async (request) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    onTheWay.add(promise)
    const arrive = (): void => {
      onTheWay.delete(promise)
      resolve()
    }
    const text: AskText = (asked) => {
      const answer = model.text(asked)
      arrive()
      return answer
    }
    try {
      return await structured(text, request)
    } finally {
      arrive()
    }
  }
  return {
    model: { ...model, structured: watched },
    gathered: async () => {
      while (onTheWay.size > 0) await Promise.all(onTheWay)
    },
  }
}
