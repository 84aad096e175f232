import type { SdkPrompt } from './sdk.ts'

export interface PromptQueue extends AsyncIterable<SdkPrompt> {
  push(prompt: string): void
  /** No prompt will follow; whoever reads is told so. */
  end(): void
}

/** The SDK reads prompts from an iterator, and the next one may be a long time coming. */
export function createPromptQueue(): PromptQueue {
  const waiting: SdkPrompt[] = []
  let isEnded = false
  let wake = Promise.withResolvers<void>()
  const signal = (): void => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  return {
    push(content) {
      waiting.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null })
      signal()
    },
    end() {
      isEnded = true
      signal()
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const next = waiting.shift()
        if (next !== undefined) yield next
        else if (isEnded) return
        else await wake.promise
      }
    },
  }
}
