import type { Completion, CompletionRequest, OpenModel } from './provider.ts'

/** One call that ends in time: with a failure of kind `timeout` after the limit, rejected at once when the caller's signal is aborted. */
export async function timedCall(
  opened: OpenModel,
  request: CompletionRequest,
  timeoutMs: number,
): Promise<Completion> {
  const stop = new AbortController()
  const timeout = Promise.withResolvers<Completion>()
  const interrupted = (): void => {
    timeout.reject(request.signal.reason)
    stop.abort()
  }
  const timer = setTimeout(() => {
    timeout.resolve({ kind: 'failure', reason: 'timeout', message: `no answer within ${timeoutMs} ms` })
    stop.abort()
  }, timeoutMs)
  request.signal.addEventListener('abort', interrupted, { once: true })
  if (request.signal.aborted) interrupted()
  try {
    // Raced, because a provider that does not heed its signal must not hang the run.
    return await Promise.race([timeout.promise, opened.complete({ ...request, signal: stop.signal })])
  } finally {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', interrupted)
  }
}
