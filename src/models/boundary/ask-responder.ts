import { aborted } from './abort.ts'
import type { IncomingCall, Reply, Responder } from './contract.ts'
import { messageOf } from './message-of.ts'

/**
 * The responder's reply. One that fails has no answer that fits, and says why. One that does not notice that the agent has
 * gone is not waited for.
 */
export async function askResponder(
  responder: Responder,
  incoming: IncomingCall,
): Promise<Reply | { readonly kind: 'gone' }> {
  const asked = answerOf(responder, incoming)
  const reply = await Promise.race([asked, aborted(incoming.signal)])
  if (reply !== 'aborted') return reply
  void asked.then(discard)
  return { kind: 'gone' }
}

async function answerOf(responder: Responder, incoming: IncomingCall): Promise<Reply> {
  try {
    return await responder.answer(incoming)
  } catch (cause) {
    return { kind: 'mismatch', problem: `${responder.name} could not answer: ${messageOf(cause)}` }
  }
}

/** Lets a source go that nobody wants to read any more. */
function discard(reply: Reply): void {
  if (reply.kind !== 'verbatim' || !(Symbol.asyncIterator in reply.body)) return
  const source = reply.body[Symbol.asyncIterator]()
  source.return?.().then(undefined, () => {})
}
