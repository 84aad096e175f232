export interface FaultGuard {
  /** The same function, which throws nothing and does nothing once one has failed. */
  guard<Args extends readonly unknown[]>(use: (...args: Args) => void): (...args: Args) => void
  rethrow(): void
}

/** What is thrown by whoever takes our events is not the agent's doing: it is kept, and thrown where somebody can catch it. */
export function createFaultGuard(onFault: () => void): FaultGuard {
  let fault: { readonly error: unknown } | null = null
  return {
    guard:
      (use) =>
      (...args) => {
        if (fault !== null) return
        try {
          use(...args)
        } catch (error) {
          fault = { error }
          onFault()
        }
      },
    rethrow() {
      if (fault !== null) throw fault.error
    },
  }
}
