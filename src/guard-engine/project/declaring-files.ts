/** Settings are protected: what they declare is what a person wants now. */
export const settingsSource = 'harness.json'
export const planSource = 'IMPLEMENTATION_PLAN.md'
