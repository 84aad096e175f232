import type { CallKind, IncomingCall } from './contract.ts'
import type { EncodedReply } from './wire/contract.ts'

/** A request that asks for no work of a model: it is free and never broken. */
export function isSideRequest(kind: CallKind): boolean {
  return kind === 'count_tokens' || kind === 'list_models'
}

const bytesPerToken = 4

/**
 * What the boundary itself says when the responder has no answer: a cassette may well lack what an agent asks in passing, and
 * that is no reason to end a trial.
 */
export function answerSideRequest(incoming: IncomingCall, modelsSeen: readonly string[]): EncodedReply {
  const { format, call, http } = incoming
  return call.kind === 'list_models'
    ? format.encodeModels(modelsSeen)
    : format.encodeCount(Math.ceil(http.body.length / bytesPerToken))
}
