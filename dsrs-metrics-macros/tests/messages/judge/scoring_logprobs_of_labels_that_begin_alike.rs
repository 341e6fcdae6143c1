/// Judge the text.
#[judge(score = f64::from(u8::from(quality != "bad")), scoring(by = logprobs))]
struct Quality {
    #[input(pred)]
    text: String,
    #[output(labels = ["good", "bad", "great", "brilliant"])]
    quality: String,
}
