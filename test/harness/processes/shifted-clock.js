// Loaded before a service (--import), so that its clock is wrong by CLOCK_OFFSET_MS. Monotonic time stays as it is.
const offsetMs = Number(process.env['CLOCK_OFFSET_MS']);
const RightDate = globalThis.Date;

globalThis.Date = class ShiftedDate extends RightDate {
  constructor(...given) {
    if (given.length === 0) super(RightDate.now() + offsetMs);
    else super(...given);
  }

  static now() {
    return RightDate.now() + offsetMs;
  }
};
