import fc from 'fast-check'

/** Any character but half of a pair, as the unit of a string. The unit `binary` of fast-check is the same, and takes a second to build. */
export const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((point) => String.fromCodePoint(point))
