/** Settings are protected: what they declare is what a person wants now. */
export const settingsCommandSource = 'harness.json'
export const planCommandSource = 'IMPLEMENTATION_PLAN.md'

/** Where git keeps the newest entry of the stash. */
export const stashRef = 'refs/stash'
