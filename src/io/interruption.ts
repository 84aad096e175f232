/** Why a command is aborted: a signal that this process received. */
export class Interruption extends DOMException {
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`, 'AbortError')
    this.signal = signal
  }
}
