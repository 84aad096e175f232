import type { IncomingCall, Reply, Responder, SessionOptions } from './contract.ts'
import { abandoned, type Delivery, deliveryOf, encodedDelivery } from './deliver.ts'
import type { Fault } from './faults.ts'
import type { CallEnd, Cost, Meter } from './meter.ts'
import { isSideRequest } from './model-call.ts'
import { aborted, messageOf } from './wait-unless-aborted.ts'
import type { EncodedReply } from './wire/contract.ts'

/** State that the exchanges of one session share. */
export interface SessionState {
  readonly options: SessionOptions
  readonly meter: Meter
  /** Aborted when the session is closed. */
  readonly closing: AbortSignal
  /** Why the session is over for its agent; null while it is running. */
  over(): string | null
  /** Ends the session: later calls are refused. The first reason stays. */
  stop(reason: 'over_budget' | 'mismatch', why: string): void
  /** Index of the next call that a fault can hit, from 0. */
  nextFaultIndex(): number
  modelsSeen(): readonly string[]
}

export interface ChosenReply {
  readonly delivery: Delivery
  readonly by: string
  readonly fault: Fault | null
  /** Must be called when the delivery has ended. */
  readonly settle: (end: CallEnd) => Cost
}

/** Checks in this order: is the session over, does a fault apply, does the budget allow the call, what does the responder answer? */
export async function chooseReply(state: SessionState, incoming: IncomingCall): Promise<ChosenReply> {
  const { options, meter } = state
  const { format, call, http } = incoming
  if (isSideRequest(call.kind)) return decideSide(state, incoming)
  const over = state.over()
  if (over !== null) return refuse(incoming, over)
  const fault = options.faults?.next(state.nextFaultIndex()) ?? null
  if (fault?.kind === 'status') {
    const { status, message = `A fault was played: ${status}.`, retryAfterSecs } = fault
    const failure = { status, message, ...(retryAfterSecs !== undefined && { retryAfterSecs }) }
    return { ...unpaid(encodedDelivery(format.encodeFailure(failure)), 'fault'), fault }
  }
  const metered = meter.begin(call, http.body.length)
  if (metered.kind === 'refused') {
    state.stop('over_budget', metered.message)
    return refuse(incoming, metered.message)
  }
  const reply = await askResponder(options.responder, incoming)
  const made = tryDelivery(reply, incoming)
  if (made.kind === 'delivery')
    return { delivery: made.delivery, by: nameOf(reply, options), fault, settle: metered.settle }
  metered.settle({ reading: null, answered: false })
  state.stop('mismatch', made.problem)
  return refuse(incoming, made.problem)
}

type Asked = Awaited<ReturnType<typeof askResponder>>

/** A turn that the format cannot encode is a mismatch. */
function tryDelivery(
  reply: Asked,
  incoming: IncomingCall,
):
  | { readonly kind: 'delivery'; readonly delivery: Delivery }
  | { readonly kind: 'mismatch'; readonly problem: string } {
  if (reply.kind === 'mismatch') return reply
  if (reply.kind === 'gone') return { kind: 'delivery', delivery: abandoned }
  try {
    return { kind: 'delivery', delivery: deliveryOf(reply, incoming) }
  } catch (cause) {
    return { kind: 'mismatch', problem: `an answer could not be written: ${messageOf(cause)}` }
  }
}

async function decideSide(state: SessionState, incoming: IncomingCall): Promise<ChosenReply> {
  const reply = await askResponder(state.options.responder, incoming)
  const by = nameOf(reply, state.options)
  switch (reply.kind) {
    case 'gone':
      return unpaid(abandoned, by)
    case 'verbatim':
    case 'failure':
      return unpaid(deliveryOf(reply, incoming), by)
    case 'turn':
    case 'mismatch':
      return unpaid(encodedDelivery(answerSideRequest(incoming, state.modelsSeen())), 'boundary')
  }
}

function nameOf(reply: Asked, { responder }: SessionOptions): string {
  return reply.kind === 'verbatim' ? (reply.by ?? responder.name) : responder.name
}

/** The status that agents do not retry. Claude Code retries a 400 without its betas, one by one; Codex retries everything except a 400. */
function refuse({ format, call }: IncomingCall, message: string): ChosenReply {
  const status = call.api === 'anthropic' ? 402 : 400
  return unpaid(encodedDelivery(format.encodeFailure({ status, message })), 'refused')
}

function unpaid(delivery: Delivery, by: string): ChosenReply {
  return { delivery, by, fault: null, settle: () => ({ tokens: null, costUsd: null }) }
}

/**
 * The responder's reply. A responder that throws is a mismatch with its error. A responder that ignores a disconnected
 * agent is not waited for.
 */
async function askResponder(
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

/** Releases a source that is no longer read. */
function discard(reply: Reply): void {
  if (reply.kind !== 'verbatim' || !(Symbol.asyncIterator in reply.body)) return
  const source = reply.body[Symbol.asyncIterator]()
  source.return?.().then(undefined, () => {})
}

const bytesPerToken = 4

/**
 * The boundary's own answer to counts and lists when the responder has none: a cassette may lack such requests, and a
 * trial must not fail because of them.
 */
function answerSideRequest(incoming: IncomingCall, modelsSeen: readonly string[]): EncodedReply {
  const { format, call, http } = incoming
  return call.kind === 'list_models'
    ? format.encodeModels(modelsSeen)
    : format.encodeCount(Math.ceil(http.body.length / bytesPerToken))
}
